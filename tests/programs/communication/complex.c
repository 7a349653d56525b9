// Real and imaginary parts are written at lines of their own, places and masses too: what another thread reads is in states that repeat from one
// structure to the next, of which some are true communication, some reuse and some its own. Then columns are written whose rows are farther apart
// than what is looked up at once. Loops like these are counted before they run.
// THREADS: 2
// LET: N = 6000
// LET: TIMES = 3
// LET: ROWS = 300
// EXPECT: raw lines re -> all = 2 * N
// EXPECT: raw lines im -> all = 2 * N
// EXPECT: rar lines re -> all = 2 * (TIMES - 1) * N
// EXPECT: rar lines im -> all = 2 * (TIMES - 1) * N
// EXPECT: raw lines place -> x = 2 * N
// EXPECT: raw lines place -> z = 2 * N
// EXPECT: raw lines charge -> q = N
// EXPECT: rar lines place -> x = 2 * (TIMES - 1) * N
// EXPECT: rar lines place -> z = 2 * (TIMES - 1) * N
// EXPECT: rar lines charge -> q = (TIMES - 1) * N
// EXPECT: raw lines mine -> read = 0
// EXPECT: raw lines column -> cells = 2 * ROWS
// EXPECT: raw lines other -> cells = 2 * ROWS
#include "team.h"

enum { N = 6000, TIMES = 3, ROWS = 300, ROW = 2500 };
static double numbers[2 * N];
struct body {
    double x, y, z, mass;
    float q, unread;
};
static struct body bodies[N];
static double matrix[ROWS][ROW];
static double total;

static NOINLINE void sum(const double *from, long n) {
    double sum = 0;
    for (long i = 0; i < n; i++)
        sum += from[i]; /*@all*/
    total += sum;
}

static NOINLINE void energy(const struct body *all) {
    double sum = 0;
    for (long i = 0; i < N; i++) {
        sum += all[i].x;    /*@x*/
        sum += all[i].mass; /*@read*/
        sum += all[i].z;    /*@z*/
        sum += all[i].q;    /*@q*/
    }
    total += sum;
}

static NOINLINE void columns(double (*all)[ROW]) {
    for (long i = 0; i < ROWS; i++)
        all[i][6] = i; /*@column*/
    for (long i = ROWS - 1; i >= 0; i--)
        all[i][7] = -i; /*@other*/
}

static NOINLINE double pairs(const double (*all)[ROW]) {
    double sum = 0;
    for (long i = 0; i < ROWS; i++)
        sum += all[i][6] + all[i][7]; /*@cells*/
    return sum;
}

static void *work(void *me) {
    for (int i = 0; i < N; i++)
        bodies[i].mass = i; /*@mine*/
    for (int time = 0; time < TIMES; time++) {
        sum(numbers, 2 * N);
        energy(bodies);
    }
    total += pairs((const double (*)[ROW])matrix);
    return me;
}

int main(void) {
    for (int i = 0; i < N; i++)
        numbers[2 * i] = i; /*@re*/
    for (int i = 0; i < N; i++)
        numbers[2 * i + 1] = -i; /*@im*/
    for (int i = 0; i < N; i++) {
        bodies[i].x = i, bodies[i].y = 1, bodies[i].z = 2; /*@place*/
        bodies[i].q = 1;                                   /*@charge*/
    }
    columns(matrix);
    team(1, work);
    return total == 0;
}
