// Two lines write rows of one array, too short to be asked about one by one. Most of them lie apart, and what the nest knows of these is kept; every
// fourth pair overlaps, so that it matters in which order the loop writes. Whether they do is found out as the program runs; a vectorised loop would
// find it out by itself.
// THREADS: 2
// LET: ROWS = 400
// LET: WIDE = 16
// EXPECT: raw lines one -> all = 2 * ROWS * WIDE
// EXPECT: raw lines other -> all = 2 * WIDE
#include "team.h"

enum { ROWS = 400, WIDE = 16, AHEAD = 2 * WIDE, BEHIND = 8, TIMES = 5 };
static double from[ROWS][WIDE], to[(ROWS + 1) * WIDE];
static double total;
static volatile long width = WIDE;

static NOINLINE void write_rows(double *rows, long wide) {
    for (int k = 0; k < ROWS; k++) {
        double *one = rows + k * WIDE, *other = one + (k % 4 == 3 ? BEHIND : AHEAD);
#pragma clang loop vectorize(disable) unroll(disable)
        for (long j = 0; j < wide; j++) {
            double value = from[k][j];
            one[j] = value;    /*@one*/
            other[j] = -value; /*@other*/
        }
    }
}

static void *work(void *me) {
    for (int i = 0; i < (ROWS + 1) * WIDE; i++)
        total += to[i]; /*@all*/
    return me;
}

int main(void) {
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < WIDE; j++)
            from[i][j] = i + j;
    for (int time = 0; time < TIMES; time++)
        write_rows(to, width);
    team(1, work);
    return total == 0.5;
}
