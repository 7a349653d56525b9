// Loops that the optimiser turns into vector accesses count as the scalar loops do, whatever the width, with remainder.
// LEVELS: O0, O1, O2, O3, Os, O3 -mavx2, O3 -march=native -mprefer-vector-width=512, O3 -ffast-math -funroll-loops
// THREADS: 3
// STDOUT: 5005028
// LET: N = 10007
// LET: K = 3
// EXPECT: raw = 3 * N if w == 1 && r == 2
// EXPECT: rar = (K - 1) * 3 * N if w == 1 && r == 2
// EXPECT: raw in sum_ints = N if w == 1 && r == 2
// EXPECT: raw in sum_doubles = 2 * N if w == 1 && r == 2
#include "team.h"

enum { N = 10007, K = 3 };
typedef struct { size_t n; int *ints; double *doubles; } Arrays;

NOINLINE void fill(int *restrict ints, double *restrict doubles, size_t n) {
    for (size_t i = 0; i < n; i++) {
        ints[i] = (int)(i % 1000);
        doubles[i] = 1.0;
    }
}

NOINLINE int sum_ints(const int *a, size_t n) {
    int sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += a[i];
    return sum;
}

NOINLINE double sum_doubles(const double *a, size_t n) {
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += a[i];
    return sum;
}

static int ints[N];
static double doubles[N];

static void *write(void *n) {
    fill(ints, doubles, (size_t)n);
    return NULL;
}

static void *read(void *n) {
    intptr_t total = 0;
    for (int k = 0; k < K; k++) {
        FENCE();
        total = sum_ints(ints, (size_t)n) + (intptr_t)sum_doubles(doubles, (size_t)n);
    }
    return (void *)total;
}

int main(void) {
    volatile size_t n = N;
    pthread_t reader;
    void *total;
    one(write, (void *)n);
    pthread_create(&reader, NULL, read, (void *)n);
    pthread_join(reader, &total);
    printf("%ld\n", (long)(intptr_t)total);
    return 0;
}
