// Rows that another thread wrote are updated where they are: each element (of two granules) is read once, and then it is the reader's own. So are those that are moved
// one place down. What is read after the loop has written it is no event, and a running sum reads its own results.
// THREADS: 2
// LET: N = 1000
// EXPECT: raw lines first -> scaled = 2 * N
// EXPECT: rar lines first -> scaled = 0
// EXPECT: raw lines second -> moved = 2 * N - 2
// EXPECT: raw lines third -> summed = 2
// EXPECT: raw lines fourth -> summed = 2 * N - 2
// EXPECT: raw lines fourth -> after = 0
// EXPECT: raw lines scaled -> back = 2 * N
// EXPECT: raw lines moved -> back = 2 * N - 2
// EXPECT: raw lines summed -> back = 2 * N - 2
// EXPECT: raw lines filled -> back = 2 * N
// EXPECT: raw = 6 * N - 2 if w == 0 && r == 1; 8 * N - 2 if w == 1 && r == 0
#include "team.h"

enum { N = 1000 };
static double first[N], second[N], third[N], fourth[N];

static NOINLINE void scale(double *row) {
    for (int i = 0; i < N; i++)
        row[i] = row[i] * .5 + 1; /*@scaled*/
}

static NOINLINE void move(double *row) {
    for (int i = 1; i < N; i++)
        row[i - 1] = row[i]; /*@moved*/
}

static NOINLINE void sum(double *row, const double *of) {
    for (int i = 1; i < N; i++)
        row[i] = row[i - 1] + of[i]; /*@summed*/
}

static NOINLINE double fill(volatile double *row) {
    double sum = 0;
    for (int i = 0; i < N; i++) {
        row[i] = i;    /*@filled*/
        sum += row[i]; /*@after*/
    }
    return sum;
}

static double total;

static void *work(void *me) {
    scale(first);
    move(second);
    sum(third, fourth);
    total = fill(fourth);
    return me;
}

int main(void) {
    for (int i = 0; i < N; i++) {
        first[i] = i;  /*@first*/
        second[i] = i; /*@second*/
        third[i] = i;  /*@third*/
        fourth[i] = i; /*@fourth*/
    }
    team(1, work);
    double all = total;
    for (int i = 0; i < N; i++)
        all += first[i] + second[i] + third[i] + fourth[i]; /*@back*/
    return all == 0;
}
