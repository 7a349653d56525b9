// Each loop of a nest is a region of its own; an event belongs to the innermost loop around the read.
// LEVELS: O0, O1, O2
// THREADS: 3
// LET: N = 30
// EXPECT: raw in nest = N * N + N if w == 1 && r == 2
// EXPECT: raw in own loop nest@outer = N if w == 1 && r == 2
// EXPECT: raw in own loop nest@inner = N * N if w == 1 && r == 2
// EXPECT: raw in loop nest@outer = N * N + N if w == 1 && r == 2
// EXPECT: rar = 0
#include "team.h"

enum { N = 30 };
static volatile int matrix[N][N], vector[N];

static void *fill(void *unused) {
    for (int i = 0; i < N; i++) {
        vector[i] = i;
        for (int j = 0; j < N; j++)
            matrix[i][j] = j;
    }
    return unused;
}

NOINLINE void nest(long n) {
    for (long i = 0; i < n; i++) { /*@outer*/
        USE(vector[i]);
        for (long j = 0; j < n; j++) /*@inner*/
            USE(matrix[i][j]);
    }
}

static void *look(void *n) {
    nest((long)(intptr_t)n);
    return NULL;
}

int main(void) {
    volatile intptr_t n = N;
    one(fill, NULL);
    one(look, (void *)n);
    return 0;
}
