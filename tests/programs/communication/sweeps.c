// Each row of a grid that another thread wrote is updated from the row above it. Compilers that vectorise this compare before the nest whether the
// rows overlap, in all that they reach there, which they do: the loop for what is left over of vectors runs all of it.
// THREADS: 2
// ARGS: 40 300
// LET: ROWS = 40
// LET: COLUMNS = 300
// EXPECT: raw lines grid -> swept = 2 * ROWS * COLUMNS
// EXPECT: rar lines grid -> swept = 0
// EXPECT: raw lines swept -> back = 2 * (ROWS - 1) * COLUMNS
#include "team.h"
#include <stdlib.h>

static int rows, columns;
static double *grid;

static NOINLINE void sweep(int rows, int columns, double (*at)[columns], int from, int to) {
    for (int i = 1; i < rows; i++)
        for (int j = from; j < to; j++)
            at[i][j] -= .5 * at[i - 1][j]; /*@swept*/
}

static NOINLINE double sum(long elements, const double *of) {
    double sum = 0;
    for (long i = 0; i < elements; i++)
        sum += of[i]; /*@back*/
    return sum;
}

static void *work(void *me) {
    sweep(rows, columns, (double(*)[columns])grid, 0, columns / 3);
    sweep(rows, columns, (double(*)[columns])grid, columns / 3, columns);
    return me;
}

int main(int count, char **arguments) {
    rows = atoi(arguments[1]), columns = atoi(arguments[count - 1]);
    grid = malloc(sizeof(double) * rows * columns);
    for (int i = 0; i < rows * columns; i++)
        grid[i] = i % 7; /*@grid*/
    team(1, work);
    double all = sum((long)rows * columns, grid);
    free(grid);
    return all == 0;
}
