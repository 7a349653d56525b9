// Half of a matrix is read by another thread, column by column; rows are a multiple of 256 bytes long. What a region
// has for itself is estimated from one granule in 64: no length of rows may hide the other half, or be taken for all.
// THREADS: 3
// LET: BYTES = 1024 * 512 / 2
// EXPECT: raw = BYTES / 4 if w == 1 && r == 2; 1 if w == 0 && r == 1
// EXPECT: number total.private_bytes in fill >= BYTES * 9 / 10
// EXPECT: number total.private_bytes in fill <= BYTES * 11 / 10
#include "team.h"

enum { ROWS = 1024, COLUMNS = 64 };
static double matrix[ROWS][COLUMNS];
static volatile int first;

NOINLINE static void fill(void) {
    int number = first;
#pragma clang loop unroll(disable)
    for (int i = 0; i < ROWS * COLUMNS; i++)
        matrix[i / COLUMNS][i % COLUMNS] = number + i;
}

static void *write(void *unused) {
    fill();
    return unused;
}

static void *read(void *unused) {
    double sum = 0;
    for (int column = 0; column < COLUMNS; column += 2)
        for (int row = 0; row < ROWS; row++)
            sum += *(volatile double *)&matrix[row][column];
    USE(sum);
    return unused;
}

int main(void) {
    first = 1;
    one(write, NULL);
    one(read, NULL);
    return 0;
}
