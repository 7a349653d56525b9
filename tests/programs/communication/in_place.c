// Rows that another thread wrote are updated where they are: each element (of two granules) is read once, and then it is the reader's own.
// So are those that are moved one place down. What is read after the loop has written it is no event, and a running sum reads its own results.
// THREADS: 2
// OPTIONS: crd=off
// LET: N = 1000
// LET: SHORT = 96
// LET: ROWS = 4
// LET: EVERY = 100
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
// EXPECT: raw lines fifth -> again = 2 * SHORT * ROWS
// EXPECT: rar lines fifth -> again = 2 * SHORT * (EVERY - 1 + 2 * EVERY - 1 + 3 * EVERY - 1 + 4 * EVERY - 1)
// EXPECT: rar lines fifth -> halved = 2 * SHORT * ROWS
// EXPECT: raw lines sixth -> until = 2 * SHORT * ROWS
// EXPECT: rar lines sixth -> until = 2 * SHORT * (EVERY - 1 + 2 * EVERY - 1 + 3 * EVERY - 1 + 4 * EVERY - 1)
// EXPECT: raw = 6 * N - 2 + 4 * SHORT * ROWS if w == 0 && r == 1; 8 * N - 2 if w == 1 && r == 0
#include "team.h"
#include <stdlib.h>

enum { N = 1000, SHORT = 96, ROWS = 4, EVERY = 100, ROUNDS = 600 };
static double first[N], second[N], third[N], fourth[N], fifth[ROWS * SHORT], sixth[ROWS * SHORT];

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

/* What is known of rows that are read again and again ends when one of them is updated in place, between two rounds. */
NOINLINE double read_again(double *rows, int n, int every) {
    double sum = 0;
    for (int round = 0; round < ROUNDS; round++) {
        for (int row = 0; row < ROWS; row++)
            for (int i = 0; i < n; i++)
                sum += rows[row * n + i]; /*@again*/
        int row = round / every, some = round % every == every - 1 && row < ROWS ? n : 0;
        for (int i = 0; i < some; i++)
            rows[row * n + i] *= .5; /*@halved*/
    }
    return sum;
}

/* The same where one is replaced by what is looked up in a table. */
NOINLINE double read_until(double *rows, int n, int every, const double *table, const int *keys) {
    double sum = 0;
    for (int round = 0; round < ROUNDS; round++) {
        for (int row = 0; row < ROWS; row++)
            for (int i = 0; i < n; i++)
                sum += rows[row * n + i]; /*@until*/
        int row = round / every, some = round % every == every - 1 && row < ROWS ? n : 0;
        for (int i = 0; i < some; i++)
            rows[row * n + i] = table[keys[i]];
    }
    return sum;
}

static double total;

static void *work(void *me) {
    scale(first);
    move(second);
    sum(third, fourth);
    total = fill(fourth) + read_again(fifth, SHORT, EVERY);
    double *table = malloc(sizeof(double[SHORT]));
    int *keys = malloc(sizeof(int[SHORT]));
    for (int i = 0; i < SHORT; i++)
        table[i] = i, keys[i] = (i * 7) % SHORT;
    total += read_until(sixth, SHORT, EVERY, table, keys);
    free(table);
    free(keys);
    return me;
}

int main(void) {
    for (int i = 0; i < N; i++) {
        first[i] = i;  /*@first*/
        second[i] = i; /*@second*/
        third[i] = i;  /*@third*/
        fourth[i] = i; /*@fourth*/
    }
    for (int i = 0; i < ROWS * SHORT; i++) {
        fifth[i] = i; /*@fifth*/
        sixth[i] = i; /*@sixth*/
    }
    team(1, work);
    double all = total;
    for (int i = 0; i < N; i++)
        all += first[i] + second[i] + third[i] + fourth[i]; /*@back*/
    return all == 0;
}
