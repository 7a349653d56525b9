// One of each construct, each reading a table that main wrote: all of them are regions of their own kind. Who runs what is left
// open, so only what main's workers must have read is checked.
// FLAGS: -fopenmp
// RUNS: 1
// THREADS: 4
// LET: N = 64
// EXPECT: raw sum in omp_for main@dynamic <= N
// EXPECT: raw sum in omp_for main@static = 3 * N / 4
// EXPECT: raw sum in omp_sections main <= 2 * N
// EXPECT: raw sum in omp_single main <= N
// EXPECT: raw sum in omp_master main = 0
// EXPECT: raw sum in omp_critical main = 3 * N
// A task that another thread made also brings its copy of k and the record that leads to it.
// EXPECT: raw sum in omp_task main <= 4 * (N + 4)
// EXPECT: raw sum in omp_ordered main = 3 * N / 4
#include "team.h"

enum { N = 64 };
static volatile int dynamic[N], fixed[N], section[2][N], single[N], master[N], critical[N], task[4][N], ordered[N];

static void fill(volatile int *words, int n) {
    for (int i = 0; i < n; i++)
        words[i] = i;
}

int main(void) {
    fill(dynamic, N);
    fill(fixed, N);
    fill(section[0], 2 * N);
    fill(single, N);
    fill(master, N);
    fill(critical, N);
    fill(task[0], 4 * N);
    fill(ordered, N);
#pragma omp parallel num_threads(4)
    {
#pragma omp for schedule(dynamic, 4) /*@dynamic*/
        for (int i = 0; i < N; i++)
            USE(dynamic[i]);
#pragma omp for schedule(static) /*@static*/
        for (int i = 0; i < N; i++)
            USE(fixed[i]);
#pragma omp sections
        {
#pragma omp section
            for (int i = 0; i < N; i++)
                USE(section[0][i]);
#pragma omp section
            for (int i = 0; i < N; i++)
                USE(section[1][i]);
        }
#pragma omp single
        for (int i = 0; i < N; i++)
            USE(single[i]);
#pragma omp master
        for (int i = 0; i < N; i++)
            USE(master[i]);
#pragma omp critical
        for (int i = 0; i < N; i++)
            USE(critical[i]);
#pragma omp single
        for (int k = 0; k < 4; k++)
#pragma omp task firstprivate(k)
            for (int i = 0; i < N; i++)
                USE(task[k][i]);
#pragma omp for ordered schedule(static)
        for (int i = 0; i < N; i++)
#pragma omp ordered
            USE(ordered[i]);
    }
    return 0;
}
