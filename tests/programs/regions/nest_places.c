// Blocks of ROWS x DEPTH elements that main wrote are each used ROUNDS times, column by column, in a nest that is counted as
// a whole. Each use finds an element again after all others of its block, whether the nest reads it for the first time or
// knows it, and wherever in the nest a sample begins.
// THREADS: 2
// LET: BLOCK = 3 * 5 * 2
// LET: BLOCKS = 4000
// LET: ROUNDS = 8
// LET: RIGHT = 5 * 64 * 2
// EXPECT: raw = BLOCK * BLOCKS + RIGHT + 2 if w == 0 && r == 1
// EXPECT: number crd.index.median in loop update@rows = BLOCK
// EXPECT: number crd.index.p99 in loop update@rows = BLOCK
// EXPECT: number crd.index.p90 in loop update@rows = BLOCK
#include "team.h"

enum { ROWS = 3, DEPTH = 5, COLUMNS = 64, BLOCKS = 4000, ROUNDS = 8 };
static double left[BLOCKS][ROWS * DEPTH], right[DEPTH * COLUMNS];
static volatile long sizes[3] = {ROWS, DEPTH, COLUMNS};

NOINLINE void update(double *restrict to, const double *restrict a, const double *restrict b, long rows, long depth, long columns) {
    for (long k = 0; k < depth; k++)
        for (long i = 0; i < rows; i++) { /*@rows*/
            double factor = a[i * depth + k];
            for (long j = 0; j < columns; j++)
                to[i * columns + j] += factor * b[k * columns + j];
        }
}

static void *use(void *unused) {
    static double result[ROWS * COLUMNS];
    long rows = sizes[0], depth = sizes[1], columns = sizes[2];
    for (int block = 0; block < BLOCKS; block++)
        for (int round = 0; round < ROUNDS; round++)
            update(result, left[block], right, rows, depth, columns);
    USE(result[0]);
    return unused;
}

int main(void) {
    for (int block = 0; block < BLOCKS; block++)
        for (int i = 0; i < ROWS * DEPTH; i++)
            left[block][i] = i;
    for (int i = 0; i < DEPTH * COLUMNS; i++)
        right[i] = i;
    sizes[0] = ROWS;
    one(use, NULL);
    return 0;
}
