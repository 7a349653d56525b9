// Blocks whose rows two threads wrote in turns, each used ROUNDS times in a nest that is counted as a whole, column by column
// or row by row. Of what one thread wrote, each use finds an element again after all others of the block: whether the nest
// reads it for the first time or knows it, and wherever in the nest the element and the writer's rows are.
// THREADS: 4
// LET: OF_ONE = 3 * 5 * 2
// LET: BLOCKS = 6000
// LET: RIGHT = 5 * 64 * 2
// EXPECT: raw = OF_ONE * BLOCKS if (w == 1 || w == 2) && r == 3; RIGHT + 2 if w == 0 && r == 3
// EXPECT: number crd.index.median in loop by_columns@i = OF_ONE
// EXPECT: number crd.index.p99 in loop by_columns@i = OF_ONE
// EXPECT: number crd.index.median in loop by_rows@k = OF_ONE
// EXPECT: number crd.index.p99 in loop by_rows@k = OF_ONE
#include "team.h"

enum { ROWS = 6, DEPTH = 5, COLUMNS = 64, BLOCKS = 6000, ROUNDS = 8 };
static double left[BLOCKS][ROWS * DEPTH], right[DEPTH * COLUMNS];
static volatile long sizes[3] = {ROWS, DEPTH, COLUMNS};

typedef struct {
    long rows, depth, columns;
} Sizes;

NOINLINE void by_columns(double *restrict to, const double *restrict a, const double *restrict b, Sizes n) {
    for (long k = 0; k < n.depth; k++)
        for (long i = 0; i < n.rows; i++) { /*@i*/
            double factor = a[i * n.depth + k];
            for (long j = 0; j < n.columns; j++)
                to[i * n.columns + j] += factor * b[k * n.columns + j];
        }
}

NOINLINE void by_rows(double *restrict to, const double *restrict a, const double *restrict b, Sizes n) {
    for (long i = 0; i < n.rows; i++)
        for (long k = 0; k < n.depth; k++) { /*@k*/
            double factor = a[i * n.depth + k];
            for (long j = 0; j < n.columns; j++)
                to[i * n.columns + j] += factor * b[k * n.columns + j];
        }
}

static void *fill(void *odd) {
    for (int block = 0; block < BLOCKS; block++)
        for (int i = odd != NULL; i < ROWS; i += 2)
            for (int k = 0; k < DEPTH; k++)
                left[block][i * DEPTH + k] = i * k;
    return NULL;
}

static void *use(void *unused) {
    static double result[ROWS * COLUMNS];
    Sizes n = {sizes[0], sizes[1], sizes[2]};
    for (int block = 0; block < BLOCKS; block++)
        for (int round = 0; round < ROUNDS; round++)
            (block % 2 ? by_columns : by_rows)(result, left[block], right, n);
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
