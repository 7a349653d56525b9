// Built by gcc for libgomp, run with libomp under libgomp's name and the runtime preloaded: its regions and barriers are known by
// the functions that they stand in.
// compiler: gcc
// flags: -fopenmp
// environment: OMP_NUM_THREADS=3
// linkage: preload
// stdout: 3
// count: 2 thread_is_openmp_worker
// profile: instance ompparallel of 0 number 0 thread 0 primary team 3
// profile: instance ompparallel of 0 number 1 thread 0 primary team 3
// profile-count: 6 instance ompparallel
// profile-count: 12 instance ompbarrier
// profile: level nominal 3
// profile: code in_parallel
#include <stdio.h>

static int threads;

__attribute__((noinline)) static void in_parallel(void) {
#pragma omp parallel
    {
#pragma omp barrier
#pragma omp atomic
        threads++;
    }
    __asm__ volatile("");
}

int main(void) {
    in_parallel();
    threads = 0;
    in_parallel();
    printf("%d\n", threads);
    return 0;
}
