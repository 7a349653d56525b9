// With as many sections as threads each thread runs one, in order: section k writes block k; after the construct's barrier every
// thread reads all blocks.
// FLAGS: -fopenmp
// THREADS: 3
// LET: N = 60
// EXPECT: raw = N if w != r
// EXPECT: rar = 0
// EXPECT: raw sum in omp_parallel main = 6 * N
#include "team.h"

enum { N = 60 };
static volatile int block[3][N];

static inline void fill(int which) {
    for (int i = 0; i < N; i++)
        block[which][i] = i;
}

int main(void) {
#pragma omp parallel num_threads(3)
    {
#pragma omp sections
        {
#pragma omp section
            fill(0);
#pragma omp section
            fill(1);
#pragma omp section
            fill(2);
        }
        for (int which = 0; which < 3; which++)
            for (int i = 0; i < N; i++)
                USE(block[which][i]);
    }
    return 0;
}
