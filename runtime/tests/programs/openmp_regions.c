// Regions of OpenMP: the team's size is the level from begin to end, and each thread has its part in each of them; a barrier
// inside bounds phases. The code was not compiled with the pass: its places have the functions' names.
// flags: -fopenmp -DCOUNTERS=3
// environment: OMP_NUM_THREADS=3
// linkage: archive
// profile: counted 0 level 1 id 0: 4
// profile: counted 0 level 3 id 1: 20
// profile: counted 1 level 3 id 1: 40
// profile: counted 2 level 3 id 1: 60
// profile: counted 1 level 3 id 2: 5
// profile-count: 7 counted
// profile: instance ompparallel of 0 number 0 thread 0 primary team 3
// profile: instance ompparallel of 0 number 1 thread 2 team 3
// profile: instance ompparallel of 1 number 0 thread 1 team 3
// profile-count: 9 instance ompparallel
// profile: instance ompbarrier of 0 number 0 thread 1 team 3
// profile: instance ompbarrier of 0 number 1 thread 2 team 3
// profile-count: 6 instance ompbarrier
// profile: part ompparallel thread 1 id 1: 40
// profile: part ompparallel thread 2 id 2: 5
// profile: part ompbarrier thread 2 id 2: 5
// profile-count: 6 part ompparallel
// profile-count: 3 part ompbarrier
// profile: waited ompbarrier by 0: 4
// profile: level nominal 3
// profile: code main
// profile: code static_work
// profile: code static_work.omp_outlined
// stdout: 15
#include "counters.h"
#include <omp.h>
#include <stdio.h>

static int sum;

__attribute__((noinline)) static void static_work(void) {
#pragma omp parallel
    {
#pragma omp barrier
        for (int i = 0; i < 5; i++) {
            COUNT(2);
#pragma omp atomic
            sum++;
        }
    }
    __asm__ volatile(""); // no tail call: the return address of the fork is in this function
}

int main(void) {
    COUNT(0);
    for (int i = 0; i < 2; i++) {
#pragma omp parallel
        for (int j = 0; j < 10 * (omp_get_thread_num() + 1); j++)
            COUNT(1);
        COUNT(0);
    }
    static_work();
    COUNT(0);
    printf("%d\n", sum);
    return 0;
}
