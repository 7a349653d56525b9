// Combined constructs, one after the other: the runtime's workers keep their logical numbers from one parallel region to the next.
// FLAGS: -fopenmp
// THREADS: 4
// LET: N = 400
// EXPECT: raw in fill = 0
// EXPECT: raw in look = N / 4 if w == (r + 3) % 4
// EXPECT: rar in look = 0
#include "team.h"

enum { N = 400 };
static volatile int number[N];

NOINLINE void fill(int i) {
    number[i] = i;
}

NOINLINE void look(int i) {
    USE(number[i]);
}

int main(void) {
#pragma omp parallel for schedule(static) num_threads(4)
    for (int i = 0; i < N; i++)
        fill(i);
#pragma omp parallel for schedule(static) num_threads(4)
    for (int i = 0; i < N; i++)
        look((i + 3 * N / 4) % N);
    return 0;
}
