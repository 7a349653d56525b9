// A block is updated again and again, and counted as a whole before it is. Its loops are entered all the same: the
// innermost one is neither vectorised nor unrolled, so that where it is entered is where it is decided how it runs.
// THREADS: 2
// LET: SIZE = 16
// LET: TIMES = 10
// EXPECT: number visits in own loop update@row = TIMES * SIZE * SIZE
// EXPECT: raw lines filled -> updated = 2 * 2 * SIZE * SIZE
#include "team.h"

enum { SIZE = 16, TIMES = 10, WIDE = 40 };
static double left[SIZE * WIDE], upper[SIZE * WIDE], block[SIZE * WIDE];
static volatile long size = SIZE;

static NOINLINE void update(double *restrict to, const double *one, const double *other, long n) {
    for (long k = 0; k < n; k++)
        for (long i = 0; i < n; i++)
#pragma clang loop vectorize(disable) unroll(disable)
            for (long j = 0; j < n; j++) /*@row*/
                to[i * WIDE + j] -= one[i * WIDE + k] * other[k * WIDE + j]; /*@updated*/
}

static void *work(void *me) {
    for (int time = 0; time < TIMES; time++)
        update(block, left, upper, size);
    return me;
}

int main(void) {
    for (int i = 0; i < SIZE * WIDE; i++)
        left[i] = upper[i] = i; /*@filled*/
    team(1, work);
    return 0;
}
