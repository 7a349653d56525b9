// Each reader asks every structure of an array for two members, again and again, in a nest without calls: members that
// several threads wrote, at two lines of each, with members between them that the readers write. Nearly all loops are
// counted as a whole; distances are sampled in them, and begin and end inside of them.
// THREADS: 5
// LET: N = 300
// LET: ROUNDS = 2000
// EXPECT: raw in meet = N / 3 * 7 if w >= 1 && w <= 3 && r == 4
// EXPECT: rar in meet = N / 3 * 7 * (ROUNDS - 1) if w >= 1 && w <= 3 && r == 4
#include "team.h"

enum { N = 300, ROUNDS = 2000, WRITERS = 3 };

struct body {
    double position[3], speed[3], force[3];
    float mass;
    int pad;
};

static struct body bodies[N];

static void *fill(void *number) {
    for (long i = (intptr_t)number - 1; i < N; i += WRITERS) {
        bodies[i].position[0] = bodies[i].position[1] = (double)i;
        bodies[i].position[2] = (double)(2 * i);
        bodies[i].mass = 1;
    }
    return NULL;
}

NOINLINE static void meet(struct body *all, long n, long rounds) {
    for (long i = 0; i < rounds; i++) {
        double sum[3] = {0, 0, 0};
#pragma clang loop vectorize(disable) unroll(disable)
        for (long j = 0; j < n; j++) {
            double mass = all[j].mass;
            const double *at = all[j].position;
            sum[0] += mass * at[0], sum[1] += mass * at[1], sum[2] += mass * at[2];
        }
        struct body *own = &all[i % n];
        own->force[0] = sum[0], own->force[1] = sum[1], own->force[2] = sum[2];
    }
}

static void *read(void *unused) {
    volatile long n = N, rounds = ROUNDS;
    meet(bodies, n, rounds);
    return unused;
}

int main(void) {
    team(WRITERS, fill);
    one(read, NULL);
    return 0;
}
