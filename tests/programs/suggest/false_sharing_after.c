// REFUSE: false-sharing
// THREADTALK: memory,control
// A team fills each row once; then its first thread alone reads the rows and exchanges two columns of all of them, in a
// function that is inlined. It has fetched each cache line by then, and nobody else comes back to it.
#include <stdlib.h>

#define T 4
#define ROWS 400
#define N 512

static inline void exchange(float *a, float *b) {
    float kept = *a;
    *a = *b;
    *b = kept;
}

static __attribute__((noinline)) void exchange_columns(float **rows, int count, int a, int b) {
    for (int row = 0; row < count; row++)
        exchange(&rows[row][a], &rows[row][b]);
}

int main(void) {
    float *rows[ROWS], sum = 0;
    unsigned random = 1;
    for (int row = 0; row < ROWS; row++) {
        float *fresh = rows[row] = malloc(N * sizeof *fresh);
#pragma omp parallel for schedule(static) num_threads(T)
        for (int i = 0; i < N; i++)
            fresh[i] = (float)(row + i);
        for (int i = 0; i < N; i++)
            sum += fresh[i];
        random = random * 1664525u + 1013904223u;
        exchange_columns(rows, row + 1, random >> 23, random >> 14 & (N - 1));
    }
    return sum == 1;
}
