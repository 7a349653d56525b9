// Nested parallel regions: each thread of the outer team of two leads an inner team of two, so four threads in all. The leaders
// write, their teams read: half of the readers are the leaders themselves.
// FLAGS: -fopenmp
// RUNS: 1
// THREADS: 4
// LET: N = 100
// EXPECT: raw sum in look = 2 * N
// EXPECT: raw columns in look <= N
// EXPECT: raw rows in look = N if w < 2
#include "team.h"
#include <omp.h>

enum { N = 100 };
static volatile int block[2][N];
static pthread_barrier_t met;

NOINLINE void look(int which) {
    for (int i = 0; i < N; i++)
        USE(block[which][i]);
}

int main(void) {
    pthread_barrier_init(&met, NULL, 4);
    omp_set_max_active_levels(2);
#pragma omp parallel num_threads(2)
    {
        int self = omp_get_thread_num();
        for (int i = 0; i < N; i++)
            block[self][i] = i;
#pragma omp parallel num_threads(2)
        {
            // All four at once: else one inner team could take over the other's thread.
            pthread_barrier_wait(&met);
            look(self);
        }
    }
    return 0;
}
