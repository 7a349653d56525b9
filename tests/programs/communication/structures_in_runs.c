// A table of structures, each of whose members is in a state of its own and which end in what nobody writes, is read in runs of
// 32 to 72 structures that begin anywhere: by the thread that wrote it, by another one for the first time, and by that once more.
// THREADS: 3
// LET: N = 72
// LET: WORDS = 17
// LET: ROUNDS = 4
// LET: READ = 2060
// EXPECT: raw = N * WORDS if w == 1 && r == 2
// EXPECT: rar = (ROUNDS * READ - N) * WORDS if w == 1 && r == 2
// LEVELS: O0, O2, O3 -mavx2
#include "team.h"

enum { N = 72, ROUNDS = 4, SHORTEST = 32 };

// 68 bytes that are read, and four that fill it up.
struct pole {
    double x, y, z, u, v, w, r, s;
    int kind;
};

static struct pole table[N];
static pthread_barrier_t barrier;

static NOINLINE double sum(const struct pole *p, long n) {
    double all = 0;
    for (long i = 0; i < n; i++) {
        struct pole q = p[i];
        all += q.x + q.y * q.z + q.u * q.v + q.w * q.r + q.s * q.kind;
    }
    return all;
}

// A round reads 32 + 33 + ... + 71 = READ structures: runs that begin with the first one, or that end with the last one.
static void *run(void *argument) {
    intptr_t me = (intptr_t)argument;
    if (me == 1)
        for (int i = 0; i < N; i++) {
            table[i].x = i;
            table[i].y = i + 1;
            table[i].z = i + 2;
            table[i].u = i + 3;
            table[i].v = i + 4;
            table[i].w = i + 5;
            table[i].r = i + 6;
            table[i].s = i + 7;
            table[i].kind = i;
        }
    for (int turn = 1; turn <= 3; turn++) {
        pthread_barrier_wait(&barrier);
        if (me == (turn == 2 ? 2 : 1))
            for (int round = 0; round < ROUNDS; round++)
                for (long n = SHORTEST; n < N; n++)
                    USE(sum(round % 2 ? table : table + N - n, n) > 0);
    }
    return NULL;
}

int main(void) {
    pthread_barrier_init(&barrier, NULL, 2);
    team(2, run);
    pthread_barrier_destroy(&barrier);
    return 0;
}
