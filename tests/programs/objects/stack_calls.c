// An array of main's stack, read through two levels of calls with parameters of other names.
// THREADS: 2
// LEVELS: O0, O1, O2
// LET: N = 20000
// EXPECT: raw object stack samples = N
// EXPECT: raw object pointer = 0
// EXPECT: raw sum = N
#include "team.h"

enum { N = 20000 };

static NOINLINE void inner(const volatile int *values, int n) {
    for (int i = 0; i < n; i++)
        USE(values[i]);
}

static NOINLINE void outer(const volatile int *rows) {
    inner(rows, N / 2);
    inner(rows + N / 2, N / 2);
}

static void *work(void *argument) {
    outer(argument);
    return NULL;
}

int main(void) {
    volatile int samples[N];
    for (int i = 0; i < N; i++)
        samples[i] = i;
    one(work, (void *)samples);
    return 0;
}
