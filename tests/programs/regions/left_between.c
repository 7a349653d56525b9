// Loops that are unrolled and left between two copies of their body: their number of iterations is known and odd.
// LEVELS: O0, O1, O2, O3, O3 -march=x86-64-v2
// THREADS: 5
// LET: N = 500
// LET: ROWS = 40
// EXPECT: raw in scaled = (ROWS + 1) * N * 2 if w == 1 && r == 2
// EXPECT: rar in scaled = (3 * ROWS - 1) * N * 2 if w == 1 && r == 2
// EXPECT: raw in added = ROWS * N * 2 if w == 2 && r == 3; N * 2 if w == 1 && r == 3
// EXPECT: rar in added = (ROWS * 2 - 1) * N * 2 if w == 1 && r == 3
// EXPECT: raw in counted = N if w == 1 && r == 3
// EXPECT: raw in summed = ROWS * N * 2 if w == 3 && r == 4
#include "team.h"

enum { N = 500, ROWS = 40 };
double from[ROWS][N], factor[N], to[ROWS][N];
int numbers[N], counts[N];

NOINLINE void scaled(int rows) {
    for (int j = 0; j < rows; j++)
        for (int i = 0; i < N; i++)
            to[j][i] = from[j][i] * 0.5 + factor[i];
}

// In place, and the same row again and again.
NOINLINE void added(int rows) {
    for (int j = 0; j < rows; j++)
        for (int i = 0; i < N; i++)
            to[j][i] += factor[i];
}

NOINLINE void counted(void) {
    for (int i = 0; i < N; i++)
        counts[i] += numbers[i];
}

NOINLINE double summed(int rows) {
    double sum = 0;
    for (int j = 0; j < rows; j++)
        for (int i = 0; i < N; i++)
            sum += to[j][i];
    return sum;
}

static void *write(void *unused) {
    for (int i = 0; i < N; i++) {
        factor[i] = i;
        numbers[i] = i;
        for (int j = 0; j < ROWS; j++)
            from[j][i] = j;
    }
    return unused;
}

static void *scale(void *unused) {
    for (int round = 0; round < 2; round++)
        scaled(ROWS);
    return unused;
}

static void *add(void *unused) {
    for (int round = 0; round < 2; round++)
        added(ROWS);
    for (int i = 0; i < N; i++)
        counts[i] = i;
    FENCE();
    counted();
    return unused;
}

static void *sum(void *unused) {
    USE(summed(ROWS));
    return unused;
}

int main(void) {
    one(write, NULL);
    one(scale, NULL);
    one(add, NULL);
    one(sum, NULL);
    return 0;
}
