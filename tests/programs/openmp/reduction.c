// A reduction clause: every thread adds its part to main's variable, one after the other in any order, which reads what the one
// before wrote; main reads the sum.
// FLAGS: -fopenmp
// RUNS: 1
// THREADS: 4
// STDOUT: 4950
// LET: N = 100
// EXPECT: raw in look = N / 4 if w == 0 && r > 0
// EXPECT: rar in look = 0
// EXPECT: raw sum >= 3 * N / 4 + 3
#include "team.h"

enum { N = 100 };
static volatile int table[N];

NOINLINE int look(int i) { return table[i]; }

int main(void) {
    for (int i = 0; i < N; i++)
        table[i] = i;
    int sum = 0;
#pragma omp parallel for reduction(+ : sum) schedule(static) num_threads(4)
    for (int i = 0; i < N; i++)
        sum += look(i);
    printf("%d\n", sum);
    return 0;
}
