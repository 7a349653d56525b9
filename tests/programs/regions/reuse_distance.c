// Sweeps over N elements: between two uses of the same element there are N - 1 others, and their positions in the sequence differ
// by N. The first sweep is communication, the other K - 1 give one distance for each element.
// THREADS: 3
// OPTIONS: crd=exact
// LET: N = 8
// LET: K = 6
// EXPECT: number crd.count in loop look@sweep = (K - 1) * N
// EXPECT: number crd.median in loop look@sweep = N - 1
// EXPECT: number crd.p99 in loop look@sweep = N - 1
// EXPECT: number crd.index.median in loop look@sweep = N
#include "team.h"

enum { N = 8, K = 6 };
static volatile int words[N];

static void *fill(void *unused) {
    for (int i = 0; i < N; i++)
        words[i] = i;
    return unused;
}

NOINLINE void look(long n) {
    for (long i = 0; i < n; i++) /*@sweep*/
        USE(words[i]);
}

static void *sweep(void *n) {
    for (int k = 0; k < K; k++)
        look((long)(intptr_t)n);
    return NULL;
}

int main(void) {
    volatile intptr_t n = N;
    one(fill, NULL);
    one(sweep, (void *)n);
    return 0;
}
