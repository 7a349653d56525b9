// Main makes four tasks that wait for one another, so that every thread runs exactly one; each reads a table that main wrote.
// FLAGS: -fopenmp
// RUNS: 1
// THREADS: 4
// LET: N = 250
// EXPECT: raw in look = N if w == 0 && r > 0
// EXPECT: rar in look = 0
#include "team.h"

enum { N = 250 };
static volatile int table[N];
static pthread_barrier_t met;

NOINLINE void look(void) {
    for (int i = 0; i < N; i++)
        USE(table[i]);
}

int main(void) {
    pthread_barrier_init(&met, NULL, 4);
    for (int i = 0; i < N; i++)
        table[i] = i;
#pragma omp parallel num_threads(4)
#pragma omp master
    for (int k = 0; k < 4; k++) {
#pragma omp task
        {
            pthread_barrier_wait(&met);
            look();
        }
    }
    return 0;
}
