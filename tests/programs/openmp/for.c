// Two worksharing loops with the static schedule: thread t fills quarter t, then reads the quarter of its right neighbour.
// FLAGS: -fopenmp
// THREADS: 4
// LET: N = 400
// LET: K = 2
// EXPECT: raw = N / 4 if w == (r + 1) % 4
// EXPECT: rar = (K - 1) * N / 4 if w == (r + 1) % 4
// EXPECT: raw sum in omp_for main@reading = N
// EXPECT: raw sum in omp_parallel main@team = N
// EXPECT: raw lines written -> read = N
#include "team.h"

enum { N = 400, K = 2 };
static volatile int data[N];

int main(void) {
#pragma omp parallel num_threads(4) /*@team*/
    {
#pragma omp for schedule(static)
        for (int i = 0; i < N; i++)
            data[i] = i; /*@written*/
        for (int k = 0; k < K; k++) {
#pragma omp for schedule(static) /*@reading*/
            for (int i = 0; i < N; i++)
                USE(data[(i + N / 4) % N]); /*@read*/
        }
    }
    return 0;
}
