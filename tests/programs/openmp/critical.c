// A critical section in which each thread reads what the one before left: a chain over four threads in any order.
// The first finds zeros that nobody wrote.
// FLAGS: -fopenmp
// RUNS: 1
// THREADS: 4
// STDOUT: 4
// LET: N = 50
// EXPECT: raw sum in omp_critical main = 3 * N
// EXPECT: raw columns in omp_critical main <= N
// EXPECT: raw rows in omp_critical main <= N
// EXPECT: rar sum = 0
#include "team.h"

enum { N = 50 };
static volatile int shared[N];

int main(void) {
#pragma omp parallel num_threads(4)
    {
#pragma omp critical
        for (int i = 0; i < N; i++)
            shared[i] = shared[i] + 1;
    }
    printf("%d\n", shared[0]);
    return 0;
}
