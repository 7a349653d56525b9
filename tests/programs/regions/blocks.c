// A product of matrices by blocks, each row of which has another writer than the next one. Where an operand is is read
// again in each row, as in functions that the compiler makes of OpenMP's loops. Counts are those of single reads,
// although nearly all blocks are counted as a whole, those that are read for the first time too.
// THREADS: 4
// LET: N = 64
// LET: BLOCK = 16
// LET: HALF = N * N / 2 * 2
// EXPECT: raw in update = 2 * HALF if w >= 1 && w <= 2 && r == 3
// EXPECT: rar in update = HALF * (N - 1) + HALF * (N / BLOCK - 1) if w >= 1 && w <= 2 && r == 3
#include "team.h"

enum { N = 64, WRITERS = 2, BLOCK = 16 };
static double a[N * N], b[N * N], c[N * N];

static void *fill(void *number) {
    for (long i = (intptr_t)number - 1; i < N; i += WRITERS)
        for (long j = 0; j < N; j++) {
            a[i * N + j] = (double)(i + j);
            b[i * N + j] = (double)(i - j);
        }
    return NULL;
}

/* For all that the compiler knows, the result's elements may be what says where the operand is. */
typedef const double *place __attribute__((may_alias));

NOINLINE static void update(double *to, const double *left, const place where[static 1], long n, long block) {
    for (long i = 0; i < block; i++) {
        const double *right = *where;
        for (long k = 0; k < block; k++) {
            double factor = left[i * n + k];
            for (long j = 0; j < block; j++)
                to[i * n + j] += factor * right[k * n + j];
        }
    }
}

static void *work(void *unused) {
    volatile long n = N, block = BLOCK;
    for (long i = 0; i < N; i += BLOCK)
        for (long k = 0; k < N; k += BLOCK)
            for (long j = 0; j < N; j += BLOCK) {
                place right = b + k * N + j;
                update(c + i * N + j, a + i * N + k, &right, n, block);
            }
    USE(c);
    return unused;
}

int main(void) {
    team(WRITERS, fill);
    one(work, NULL);
    return 0;
}
