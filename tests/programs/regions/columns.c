// A product of matrices, each row of which has another writer than the next one: columns are read with the stride of a
// row, as often as the product has rows. Counts are those of single reads, although nearly all columns are counted as a
// whole, with samples that begin and end in them.
// THREADS: 4
// LET: N = 120
// LET: HALF = N * N / 2 * 2
// EXPECT: raw in multiply = 2 * HALF if w >= 1 && w <= 2 && r == 3
// EXPECT: rar in multiply = 2 * HALF * (N - 1) if w >= 1 && w <= 2 && r == 3
#include "team.h"

enum { N = 120, WRITERS = 2 };
static double a[N * N], b[N * N], c[N * N];

static void *fill(void *number) {
    for (long i = (intptr_t)number - 1; i < N; i += WRITERS)
        for (long j = 0; j < N; j++) {
            a[i * N + j] = (double)(i + j);
            b[i * N + j] = (double)(i - j);
        }
    return NULL;
}

NOINLINE static void multiply(double *to, const double *left, const double *right, long n) {
    for (long i = 0; i < n; i++)
        for (long j = 0; j < n; j++) {
            double sum = 0;
            for (long k = 0; k < n; k++)
                sum += left[i * n + k] * right[k * n + j];
            to[i * n + j] = sum;
        }
}

static void *work(void *unused) {
    volatile long n = N;
    multiply(c, a, b, n);
    USE(c);
    return unused;
}

int main(void) {
    team(WRITERS, fill);
    one(work, NULL);
    return 0;
}
