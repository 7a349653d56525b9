// One line reads a long array once and a short one again and again, both written at one line: the reuse is the short one's.
// THREADS: 2
// LEVELS: O0, O1, O2
// LET: LONG = 300000
// LET: SHORT = 300
// EXPECT: raw object heap long_row >= LONG * 9 / 10
// EXPECT: raw object heap long_row <= LONG + SHORT
// EXPECT: rar object heap short_row >= (LONG - SHORT) * 97 / 100
// EXPECT: rar object heap long_row <= (LONG - SHORT) * 3 / 100
// EXPECT: rar sum >= LONG - SHORT
// EXPECT: raw object pointer = 0
#include "team.h"

enum { LONG = 300000, SHORT = 300 };
static volatile int *long_row, *short_row;

static NOINLINE void fill(volatile int *row, int n) {
    for (int i = 0; i < n; i++)
        row[i] = i;
}

static NOINLINE int dot(const volatile int *a, const volatile int *b, int n, int period) {
    int sum = 0;
    for (int i = 0; i < n; i++)
        sum += a[i] * b[i % period];
    return sum;
}

static void *work(void *unused) {
    USE(dot(long_row, short_row, LONG, SHORT));
    return unused;
}

int main(void) {
    long_row = malloc(LONG * sizeof *long_row);
    short_row = malloc(SHORT * sizeof *short_row);
    fill(long_row, LONG);
    fill(short_row, SHORT);
    one(work, NULL);
    free((void *)long_row);
    free((void *)short_row);
    return 0;
}
