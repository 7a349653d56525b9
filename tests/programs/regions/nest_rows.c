// Blocks whose rows two threads wrote in turns, each used ROUNDS times, row by row, in a nest that is counted as a whole. Of
// what one of them wrote, each use finds an element again after all others of the block: where in the nest the rows of a
// writer are is remembered.
// THREADS: 4
// LET: OF_ONE = 3 * 5 * 2
// LET: BLOCKS = 3000
// EXPECT: raw = OF_ONE * BLOCKS if (w == 1 || w == 2) && r == 3; 5 * 64 * 2 + 2 if w == 0 && r == 3
// EXPECT: number crd.index.median in loop update@depth = OF_ONE
// EXPECT: number crd.index.p99 in loop update@depth = OF_ONE
#include "team.h"

enum { ROWS = 6, DEPTH = 5, COLUMNS = 64, BLOCKS = 3000, ROUNDS = 8 };
static double left[BLOCKS][ROWS * DEPTH], right[DEPTH * COLUMNS];
static volatile long sizes[3] = {ROWS, DEPTH, COLUMNS};

NOINLINE void update(double *restrict to, const double *restrict a, const double *restrict b, long rows, long depth, long columns) {
    for (long i = 0; i < rows; i++)
        for (long k = 0; k < depth; k++) { /*@depth*/
            double factor = a[i * depth + k];
            for (long j = 0; j < columns; j++)
                to[i * columns + j] += factor * b[k * columns + j];
        }
}

static void *fill(void *first) {
    for (int block = 0; block < BLOCKS; block++)
        for (int i = first != NULL; i < ROWS; i += 2)
            for (int k = 0; k < DEPTH; k++)
                left[block][i * DEPTH + k] = i * k;
    return NULL;
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
    for (int i = 0; i < DEPTH * COLUMNS; i++)
        right[i] = i;
    sizes[0] = ROWS;
    one(fill, NULL);
    one(fill, right);
    one(use, NULL);
    return 0;
}
