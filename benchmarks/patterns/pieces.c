/* A grid in pieces: for each, arrays are allocated, filled in three ways, read by the next thread and freed again. */
#include "pattern.h"

enum { SIDE = 20, WIDTH = 3 * SIDE + 4 };

static double *pieces[MOST_THREADS];

static void prepare(void) {}

/* The rows' ends come from elsewhere than their middles, so that few lines are like the one before. */
static void fill(double *piece, long round) {
    for (long row = 0; row < SIDE * SIDE; row++) {
        double *cells = piece + row * WIDTH;
        long width = WIDTH - row % 7;
        for (long i = 0; i < 2; i++) cells[i] = round;
        for (long i = 2; i < width - 2; i++) cells[i] = i * .5;
        for (long i = width - 2; i < width; i++) cells[i] = row;
    }
}

static double work(int me) {
    double sum = 0;
    for (long round = 0; round < rounds; round++) {
        for (long k = 0; k < n; k++) {
            double *flux = zeroed(SIDE * SIDE * WIDTH * sizeof *flux);
            fill(flux, round + k);
            sum += flux[k % SIDE * WIDTH + 5];
            free(flux);
        }
        pieces[me] = zeroed(SIDE * SIDE * WIDTH * sizeof **pieces);
        fill(pieces[me], round);
        meet();
        for (long i = 0; i < SIDE * SIDE * WIDTH; i++) sum += pieces[next(me)][i];
        meet();
        free(pieces[me]);
    }
    return sum;
}
