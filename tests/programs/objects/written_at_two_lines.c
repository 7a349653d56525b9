// One line reads two arrays that were written at lines of their own: even the one that is read once keeps its reuse of 0.
// THREADS: 2
// LEVELS: O0, O1, O2
// LET: N = 40000
// EXPECT: raw object heap once >= N - 64
// EXPECT: raw object heap again >= N - 64
// EXPECT: rar object heap once = 0
// EXPECT: rar object heap again = 9 * N
// EXPECT: raw object pointer = 0
#include "team.h"

enum { N = 40000 };
static volatile int *once, *again;

static NOINLINE int total(const volatile int *row) {
    int sum = 0;
    for (int i = 0; i < N; i++)
        sum += row[i];
    return sum;
}

static void *work(void *unused) {
    USE(total(once));
    for (int k = 0; k < 10; k++)
        USE(total(again));
    return unused;
}

static NOINLINE void fill(volatile int *up, volatile int *down) {
    for (int i = 0; i < N; i++) {
        up[i] = i;
        down[i] = -i;
    }
}

int main(void) {
    once = malloc(N * sizeof *once);
    again = malloc(N * sizeof *again);
    fill(once, again);
    one(work, NULL);
    free((void *)once);
    free((void *)again);
    return 0;
}
