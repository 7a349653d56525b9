// Members of structures, which two threads have written at lines of their own, are read together, in no order, again and
// again: a position of three numbers, a charge, and a kind beside them. Some structures lie in two chunks of 16 KiB.
// THREADS: 4
// LET: N = 600
// LET: TIMES = 40
// EXPECT: raw lines x -> read = 2 * N
// EXPECT: rar lines x -> read = 2 * N * (TIMES - 1)
// EXPECT: raw lines y -> read = 2 * N
// EXPECT: rar lines y -> read = 2 * N * (TIMES - 1)
// EXPECT: raw lines z -> read = 2 * N
// EXPECT: rar lines z -> read = 2 * N * (TIMES - 1)
// EXPECT: raw lines charge -> read = 2 * N
// EXPECT: rar lines charge -> read = 2 * N * (TIMES - 1)
// EXPECT: raw lines kind -> read = N
// EXPECT: rar lines kind -> read = N * (TIMES - 1)
// EXPECT: raw lines u -> texture = N
// EXPECT: rar lines u -> texture = N * (TIMES - 1)
// EXPECT: raw lines v -> texture = N
// EXPECT: rar lines v -> texture = N * (TIMES - 1)
// EXPECT: rar lines x -> meet = 4 * N * TIMES
// EXPECT: rar lines y -> meet = 4 * N * TIMES
// EXPECT: rar lines charge -> meet = 4 * N * TIMES
// EXPECT: rar lines kind -> meet = 2 * N * TIMES
// EXPECT: rar = 11 * N / 2 * (TIMES - 1) + 7 * N * TIMES if w == 1 && r == 3; 11 * N / 2 * (TIMES - 1) + 7 * N * TIMES if w == 2 && r == 3
#include "team.h"

enum { N = 600, TIMES = 40 };
static struct body {
    double x, y, z, charge;
    int kind;
    float u, v, w;
} bodies[N] __attribute__((aligned(8)));
static int order[N];
static double sum;

// Every other one.
static void *write_bodies(void *from) {
    for (int i = from ? 1 : 0; i < N; i += 2) {
        bodies[i].x = i; /*@x*/
        FENCE();
        bodies[i].y = 2 * i; /*@y*/
        FENCE();
        bodies[i].z = 3 * i; /*@z*/
        FENCE();
        bodies[i].charge = 1; /*@charge*/
        FENCE();
        bodies[i].kind = i & 3; /*@kind*/
        FENCE();
        bodies[i].u = 1; /*@u*/
        FENCE();
        bodies[i].v = 2; /*@v*/
        FENCE();
    }
    return NULL;
}

NOINLINE double pull(const int *order, double cut) {
    double s = 0;
    for (int i = 0; i < N; i++) {
        const struct body *b = &bodies[order[i]];
        s += (b->x + 2 * b->y + 3 * b->z) * b->charge + b->kind; /*@read*/
        if (s < cut)
            return s;
    }
    return s;
}

NOINLINE double paint(const int *order, double cut) {
    double s = 0;
    for (int i = 0; i < N; i++) {
        const struct body *b = &bodies[order[i]];
        s += b->u * b->v + b->w; /*@texture*/
        if (s < cut)
            return s;
    }
    return s;
}

// Two of them, member by member in turns.
NOINLINE double meet(const int *order, double cut) {
    double s = 0;
    for (int i = 0; i < N; i++) {
        const struct body *a = &bodies[order[i]], *b = &bodies[order[N - 1 - i]];
        s += (a->x - b->x) * (a->y - b->y) * (a->charge - b->charge) + (a->kind - b->kind); /*@meet*/
        if (s * s < cut)
            return s;
    }
    return s;
}

static void *read_bodies(void *unused) {
    for (int i = 0; i < N; i++)
        order[i] = (7 * i + 3) % N;
    for (int k = 0; k < TIMES; k++)
        sum += pull(order, -1) + paint(order, -1) + meet(order, -1);
    return unused;
}

int main(void) {
    one(write_bodies, NULL);
    one(write_bodies, bodies);
    one(read_bodies, NULL);
    USE(sum);
    return 0;
}
