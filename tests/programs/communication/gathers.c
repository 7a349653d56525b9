// Rows of a few elements beside reads and writes at places that are read: a sparse product, gathers from the very array
// that the rows are in, and scattered writes over what the next round reads. Worker 1 writes all, worker 2 reads it
// (half of the vector after it has written that itself) and scatters.
// THREADS: 3
// LET: N = 64
// LET: M = 12
// LET: T = 30
// LEVELS: O0, O2, O3, O3 -mavx2
// EXPECT: raw lines vector -> gathered = N
// EXPECT: rar lines vector -> gathered = N * (M * T - 1)
// EXPECT: raw lines values -> rows = 2 * N * M
// EXPECT: rar lines values -> rows = 2 * N * M * (T - 1)
// EXPECT: raw lines meeting -> forwards = N * M
// EXPECT: raw lines meeting -> backwards = N * M
// EXPECT: rar lines meeting -> forwards = 2 * N * M * T - N * M
// EXPECT: rar lines meeting -> backwards = 2 * N * M * T - N * M
// EXPECT: raw lines table -> read = N * M
// EXPECT: rar lines table -> read = N * M * (T - 1) - M * T * (T - 1) / 2
// EXPECT: rar lines scattered -> read = 0
#include "team.h"

enum { ROWS = 64, EACH = 12, TIMES = 30, ALL = ROWS * EACH };
static double vector[ROWS], values[ALL], both[ALL], weights[ALL], sums[ROWS];
static long column[ALL], mirror[ALL], place[ALL];
static int table[ALL];
static pthread_barrier_t all;

static NOINLINE void fill(long n) {
    for (long e = 0; e < n; e++) {
        values[e] = 1; /*@values*/
        both[e] = 2;   /*@meeting*/
        table[e] = 3;  /*@table*/
    }
    for (long i = 0; i < ROWS; i++)
        vector[i] = 4; /*@vector*/
}

// Each row reads every fifth element of the vector, from its own on: all of them are read as often.
static NOINLINE void prepare(long n) {
    for (long e = 0; e < n; e++) {
        column[e] = (e / EACH + 5 * (e % EACH)) % ROWS;
        mirror[e] = n - 1 - e;
        place[e] = e * 5 % n;
        weights[e] = 1;
    }
    for (long i = 0; i < ROWS; i += 2)
        vector[i] = 5;
}

static NOINLINE void multiply(long rows, long each, long times) {
    for (long time = 0; time < times; time++)
        for (long i = 0; i < rows; i++) {
            double sum = 0;
            for (long e = i * each; e < (i + 1) * each; e++) {
                double value = values[e];         /*@rows*/
                sum += value * vector[column[e]]; /*@gathered*/
            }
            sums[i] = sum;
        }
}

// The first half of the rows finds elements first that the second half reads by itself.
static NOINLINE void meet(const double *row, const double *elsewhere, long rows, long each, long times) {
    for (long time = 0; time < times; time++)
        for (long i = 0; i < rows; i++) {
            double sum = 0;
            for (long e = i * each; e < (i + 1) * each; e++) {
                double value = row[e];                /*@forwards*/
                sum += value * elsewhere[mirror[e]]; /*@backwards*/
            }
            sums[i] = sum;
        }
}

static NOINLINE long scatter(long n, long each, long times) {
    long sum = 0;
    for (long time = 0; time < times; time++) {
        for (long e = 0; e < n; e++)
            sum += table[e]; /*@read*/
        for (long e = time * each; e < (time + 1) * each; e++)
            table[place[e]] = (int)weights[e]; /*@scattered*/
    }
    return sum;
}

static void *work(void *argument) {
    if ((intptr_t)argument == 1)
        fill(ALL);
    pthread_barrier_wait(&all);
    if ((intptr_t)argument == 2) {
        prepare(ALL);
        multiply(ROWS, EACH, TIMES);
        meet(both, both, ROWS, EACH, TIMES);
        USE(scatter(ALL, EACH, TIMES));
        USE(sums);
    }
    return NULL;
}

int main(void) {
    pthread_barrier_init(&all, NULL, 2);
    team(2, work);
    return 0;
}
