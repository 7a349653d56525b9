/* Rounds in which each thread writes, waits for the others, and reads. */
#include "pattern.h"

static void fill(int me, long round);
static double use(int me);

static double work(int me) {
    double total = 0;
    for (long round = 0; round < rounds; round++) {
        fill(me, round);
        meet();
        total += use(me);
        meet();
    }
    return total;
}
