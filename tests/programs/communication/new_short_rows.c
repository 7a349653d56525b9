// Rows of 3 to 30 numbers that another thread has written anew: at first their reads are counted one by one, later, since that is
// worth it, rows as a whole, and then one by one again, when nothing new is read. Each count is the same either way.
// THREADS: 3
// LET: ROUNDS = 40
// LET: ROWS = 64
// LET: LENGTHS = 462
// EXPECT: raw = 2 * ROUNDS * ROWS * LENGTHS if w == 1 && r == 2
// EXPECT: rar = 2 * ROUNDS * ROWS * LENGTHS * 3 if w == 1 && r == 2
// EXPECT: raw lines written -> multiplied = 2 * ROUNDS * ROWS * LENGTHS
// LEVELS: O0, O2, O2 -ffast-math, O3 -mavx2 -ffast-math
#include "team.h"

enum { ROUNDS = 40, ROWS = 64, LEAST = 3, LONGEST = 30 };
static double rows[ROWS * LONGEST];
static pthread_barrier_t barrier;

static NOINLINE double product(const double *x, const double *y, long n) {
    double sum = 0;
    for (long i = 0; i < n; i++)
        sum += x[i] * y[i]; /*@multiplied*/
    return sum;
}

static NOINLINE void write(long n, int round) {
    for (long i = 0; i < ROWS * n; i++)
        rows[i] = (double)(i + round); /*@written*/
}

// Worker 2 reads each row once that is new to it, and then three times that is not.
static void *work(void *argument) {
    intptr_t me = (intptr_t)argument;
    double own[LONGEST];
    for (int i = 0; i < LONGEST; i++)
        own[i] = i;
    for (int round = 0; round < ROUNDS; round++)
        for (long n = LEAST; n <= LONGEST; n++) {
            if (me == 1)
                write(n, round);
            pthread_barrier_wait(&barrier);
            for (int times = 0; me == 2 && times < 4; times++)
                for (long row = 0; row < ROWS; row++)
                    USE(product(rows + row * 37 % ROWS * n, own, n) > 0);
            pthread_barrier_wait(&barrier);
        }
    return NULL;
}

int main(void) {
    pthread_barrier_init(&barrier, NULL, 2);
    team(2, work);
    pthread_barrier_destroy(&barrier);
    return 0;
}
