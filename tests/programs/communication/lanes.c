// Active lanes are asked at once where all of them are in one state, own or never written: conditions over elements of
// one granule and of two, members of structures, and stores that leave some elements as they were.
// LEVELS: O0, O2, O3 -mavx2, O3 -mavx2 -mtune=skylake, O3 -march=native -mprefer-vector-width=512
// THREADS: 5
// LET: N = 40000
// LET: ACTIVE = N / 4
// LET: OTHERS = ACTIVE - 3004 / 4
// EXPECT: raw in ints = ACTIVE if w == 1 && r == 3
// EXPECT: rar in ints = ACTIVE if w == 1 && r == 3
// EXPECT: raw in doubles = 2 * OTHERS if w == 1 && r == 3
// EXPECT: rar in doubles = 2 * OTHERS if w == 1 && r == 3
// EXPECT: raw in members = 4 * N if w == 1 && r == 3
// EXPECT: rar in members = 4 * N if w == 1 && r == 3
// EXPECT: raw in collect = ACTIVE if w == 3 && r == 4; N - ACTIVE if w == 2 && r == 4
// EXPECT: rar = ACTIVE + 2 * OTHERS + 4 * N if w == 1 && r == 3
#include "team.h"

enum { N = 40000, OWN = 3001 };
struct body { double x, unread[7], mass; };
static int flags[N], values[N], never[N], marked[N];
static double weights[N];
double to[N];
static struct body bodies[N];

NOINLINE int ints(const int *restrict flags, const int *restrict from, int n) {
    int sum = 0;
    for (int i = 0; i < n; i++)
        if (flags[i])
            sum += from[i];
    return sum;
}

NOINLINE void doubles(const int *restrict flags, const double *restrict from, double *restrict to, int n) {
    for (int i = 0; i < n; i++)
        if (flags[i])
            to[i] = from[i] * 2;
}

NOINLINE void members(const struct body *restrict from, double *restrict to, int n) {
    for (int i = 0; i < n; i++)
        to[i] = from[i].x * from[i].mass;
}

NOINLINE void mark(const int *restrict flags, int *restrict to, int n) {
    for (int i = 0; i < n; i++)
        if (flags[i])
            to[i] = i;
}

NOINLINE int collect(const int *from, int n) {
    int sum = 0;
    for (int i = 0; i < n; i++)
        sum += from[i];
    return sum;
}

static void *write(void *unused) {
    for (int i = 0; i < N; i++) {
        values[i] = i;
        weights[i] = i;
        bodies[i] = (struct body){.x = i, .mass = i};
    }
    return unused;
}

static void *prepare(void *unused) {
    for (int i = 0; i < N; i++)
        marked[i] = -i;
    return unused;
}

static void *read(void *unused) {
    for (int i = 0; i < N; i++)
        flags[i] = i % 4 == 0;
    for (int i = 0; i < OWN; i++)
        weights[i] = i;
    for (int round = 0; round < 2; round++) {
        FENCE();
        USE(ints(flags, values, N));
        USE(ints(flags, never, N));
        doubles(flags, weights, to, N);
        members(bodies, to, N);
        mark(flags, marked, N);
    }
    return unused;
}

static void *gather(void *unused) {
    USE(collect(marked, N));
    return unused;
}

int main(void) {
    one(write, NULL);
    one(prepare, NULL);
    one(read, NULL);
    one(gather, NULL);
    return 0;
}
