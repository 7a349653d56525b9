// A stencil on a grid that is dealt out by columns: in each step each row of a worker begins and ends beside a value of a
// neighbour, between hundreds of its own. The buffers alternate, so each such read is the first of a new value.
// THREADS: 4
// LET: R = 34
// LET: I = 12
// LEVELS: O0, O2, O3, O3 -mavx2
// EXPECT: raw = 2 * (R - 2) * I if w > 0 && r > 0 && (r == w + 1 || w == r + 1)
// EXPECT: rar sum = 0
#include "team.h"

enum { WORKERS = 3, ROWS = 34, OWN = 320, COLUMNS = WORKERS * OWN, STEPS = 12 };
static double grids[2][ROWS][COLUMNS];
static pthread_barrier_t all;

static NOINLINE void fill(double (*grid)[COLUMNS], long begin, long end) {
    for (long i = 0; i < ROWS; i++)
        for (long j = begin; j < end; j++)
            grid[i][j] = i;
}

static NOINLINE void sweep(double (*restrict to)[COLUMNS], double (*restrict from)[COLUMNS], long begin, long end) {
    for (long i = 1; i < ROWS - 1; i++)
        for (long j = begin; j < end; j++)
            to[i][j] =
                from[i][j - 1] + /*@left*/
                from[i - 1][j] + from[i + 1][j] +
                from[i][j + 1]; /*@right*/
}

static void *work(void *argument) {
    long self = (intptr_t)argument - 1, begin = self * OWN, end = begin + OWN;
    fill(grids[0], begin, end);
    fill(grids[1], begin, end);
    pthread_barrier_wait(&all);
    for (int step = 0; step < STEPS; step++) {
        sweep(grids[(step + 1) % 2], grids[step % 2], begin + (self == 0), end - (self == WORKERS - 1));
        pthread_barrier_wait(&all);
    }
    return NULL;
}

int main(void) {
    pthread_barrier_init(&all, NULL, WORKERS);
    team(WORKERS, work);
    return 0;
}
