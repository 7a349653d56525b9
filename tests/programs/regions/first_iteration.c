// The compiler reads before a loop what the loop's first iteration needs, and drops its line: it is still where the
// source reads it.
// THREADS: 2
// LEVELS: O0, O1, O2, O3
// LET: ROWS = 300
// EXPECT: raw lines written -> read = ROWS * 2
// EXPECT: raw sum = ROWS * 2
#include "team.h"

enum { ROWS = 300, COLUMNS = 40 };
static double grid[ROWS][COLUMNS];

static NOINLINE void sweep(double (*g)[COLUMNS], long rows, long columns) {
    for (long j = 0; j < rows; j++)
        for (long i = 1; i < columns; i++)
            g[j][i] = g[j][i - 1] * 0.5 + 1; /*@read*/
}

static void *work(void *unused) {
    sweep(grid, ROWS, COLUMNS);
    return unused;
}

int main(void) {
    for (long j = 0; j < ROWS; j++)
        *(volatile double *)&grid[j][0] = j; /*@written*/
    one(work, NULL);
    return 0;
}
