// One thread, whichever comes first, writes; after the construct's barrier the three others read. A masked block is always the
// first thread's.
// FLAGS: -fopenmp
// RUNS: 1
// THREADS: 4
// LET: N = 100
// EXPECT: raw sum in look_single = 3 * N
// EXPECT: raw columns in look_single <= N
// EXPECT: raw in look_master = N if w == 0 && r > 0
// EXPECT: rar sum = 0
#include "team.h"

enum { N = 100 };
static volatile int from_single[N], from_master[N];

NOINLINE void look_single(void) {
    for (int i = 0; i < N; i++)
        USE(from_single[i]);
}

NOINLINE void look_master(void) {
    for (int i = 0; i < N; i++)
        USE(from_master[i]);
}

int main(void) {
#pragma omp parallel num_threads(4)
    {
#pragma omp single
        for (int i = 0; i < N; i++)
            from_single[i] = i;
#pragma omp master
        for (int i = 0; i < N; i++)
            from_master[i] = i;
#pragma omp barrier
        look_single();
        look_master();
    }
    return 0;
}
