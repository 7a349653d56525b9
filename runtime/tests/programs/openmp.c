// Workers of the OpenMP runtime are known as such.
// flags: -fopenmp
// environment: OMP_NUM_THREADS=3
// stdout: 3
// count: 2 thread_is_openmp_worker
// count: 2 thread_created
// trace: process_exit 1 0
#include <stdio.h>

int main(void) {
    int threads = 0;
#pragma omp parallel reduction(+ : threads)
    threads++;
    printf("%d\n", threads);
    return 0;
}
