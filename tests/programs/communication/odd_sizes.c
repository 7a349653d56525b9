// Elements that no register holds: 3, 6, 16, 24 and 32 bytes. Every granule that they touch is one event.
// LEVELS: O0, O1, O2, O3
// THREADS: 3
// LET: N = 32
// EXPECT: raw in read_triples = 3 * N / 4 if w == 1 && r == 2
// EXPECT: raw in read_wide = 4 * N + 8 * N if w == 1 && r == 2
// EXPECT: raw in read_integers = 6 * N + 2 * N if w == 1 && r == 2
// EXPECT: rar in read_wide = 0
// EXPECT: rar in read_integers = 0
#include "team.h"

enum { N = 32 };
typedef struct { char bytes[3]; } Triple;
typedef struct { double a, b, c, d; } Quad;
static Triple triples[N] __attribute__((aligned(64)));
static volatile __int128 large[N] __attribute__((aligned(64)));
static Quad quads[N] __attribute__((aligned(64)));
static volatile unsigned _BitInt(129) integers[N] __attribute__((aligned(64)));
static volatile unsigned _BitInt(48) medium[N] __attribute__((aligned(64)));

static void *write_all(void *unused) {
    for (int i = 0; i < N; i++) {
        triples[i] = (Triple){{1, 2, 3}};
        large[i] = i;
        quads[i] = (Quad){1, 2, 3, 4};
        integers[i] = (unsigned _BitInt(129))i;
        medium[i] = (unsigned _BitInt(48))i;
        FENCE();
    }
    return unused;
}

NOINLINE void read_triples(Triple *mine) {
    for (int i = 0; i < N; i++) {
        mine[i] = triples[i];
        FENCE();
    }
}

NOINLINE void read_wide(Quad *mine) {
    for (int i = 0; i < N; i++) {
        USE((long)large[i]);
        mine[i] = quads[i];
        FENCE();
    }
}

NOINLINE void read_integers(void) {
    for (int i = 0; i < N; i++) {
        USE((long)integers[i]);
        USE((long)medium[i]);
    }
}

static void *read_all(void *unused) {
    static Triple triples_read[N];
    static Quad quads_read[N];
    read_triples(triples_read);
    read_wide(quads_read);
    read_integers();
    return unused;
}

int main(void) {
    one(write_all, NULL);
    one(read_all, NULL);
    return 0;
}
