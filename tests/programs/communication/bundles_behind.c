// Coordinates that are read between conditions, as of particles in a periodic box, and two particles' members in turns,
// line by line: where both are one, the first line that reads a value is the one that communicates.
// THREADS: 3
// LET: N = 500
// LET: TIMES = 30
// EXPECT: raw lines x -> near = 2 * N
// EXPECT: raw lines y -> near = 2 * N
// EXPECT: raw lines z -> near = 2 * N
// EXPECT: rar lines x -> near = 2 * N * (TIMES - 1)
// EXPECT: rar lines y -> near = 2 * N * (TIMES - 1)
// EXPECT: rar lines z -> near = 2 * N * (TIMES - 1)
// EXPECT: raw lines u -> first = 2 * N
// EXPECT: raw lines v -> second = 2 * N
// EXPECT: raw lines w -> third = 2 * N
// EXPECT: rar lines u -> first = 2 * N * (2 * TIMES - 1)
// EXPECT: rar lines v -> second = 2 * N * (TIMES - 1)
// EXPECT: rar lines v -> third = 2 * N * TIMES
// EXPECT: rar lines w -> third = 2 * N * (TIMES - 1)
#include "team.h"

enum { N = 500, TIMES = 30 };
static struct particle {
    double x, y, z, u, v, w;
} particles[N];
static int order[N];
static double sum;

static void *write_particles(void *unused) {
    for (int i = 0; i < N; i++) {
        particles[i].x = i; /*@x*/
        FENCE();
        particles[i].y = 2 * i; /*@y*/
        FENCE();
        particles[i].z = 3 * i; /*@z*/
        FENCE();
        particles[i].u = 1; /*@u*/
        FENCE();
        particles[i].v = 2; /*@v*/
        FENCE();
        particles[i].w = 3; /*@w*/
        FENCE();
    }
    return unused;
}

static inline double wrapped(double d, double box) {
    if (d > 0.5 * box)
        return d - box;
    if (d < -0.5 * box)
        return d + box;
    return d;
}

NOINLINE double near(const int *order, double box, double cut) {
    double s = 0;
    for (int i = 0; i < N; i++) {
        const struct particle *p = &particles[order[i]];
        double square = 0;
        // clang-format off
        { double d = wrapped(p->x - 1, box); square += d * d; d = wrapped(p->y - 2, box); square += d * d; d = wrapped(p->z - 3, box); square += d * d; } /*@near*/
        // clang-format on
        if (square < cut)
            return s;
        s += square;
    }
    return s;
}

// a and b are one.
NOINLINE double turns(const int *one, const int *other, double box, double cut) {
    double s = 0;
    for (int i = 0; i < N; i++) {
        const struct particle *a = &particles[one[i]], *b = &particles[other[i]];
        double d = wrapped(a->u - box * b->u, box); /*@first*/
        d += wrapped(a->v - d, box);         /*@second*/
        d += wrapped(b->v + b->w - d, box);         /*@third*/
        s += d;
        if (s < cut)
            return s;
    }
    return s;
}

static void *read_particles(void *unused) {
    for (int i = 0; i < N; i++)
        order[i] = (7 * i + 3) % N;
    for (int k = 0; k < TIMES; k++)
        sum += near(order, 100, -1) + turns(order, order, 100, -1e9);
    return unused;
}

int main(void) {
    one(write_particles, NULL);
    one(read_particles, NULL);
    USE(sum);
    return 0;
}
