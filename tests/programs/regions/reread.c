// Reading one element K times at once: reuse at distance 0, however the optimiser merges the reads.
// THREADS: 3
// OPTIONS: crd=exact
// LET: K = 12
// EXPECT: raw = 1 if w == 1 && r == 2
// EXPECT: rar = K - 1 if w == 1 && r == 2
// EXPECT: number crd.count in look = K - 1
// EXPECT: number crd.median in look = 0
#include "team.h"

static volatile int word;

static void *fill(void *unused) {
    word = 1;
    return unused;
}

NOINLINE void look(void) {
    USE(word);
    USE(word + word);
}

static void *sweep(void *unused) {
    for (volatile int k = 0; k < 4; k++)
        look();
    return unused;
}

int main(void) {
    one(fill, NULL);
    one(sweep, NULL);
    return 0;
}
