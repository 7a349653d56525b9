// Members of structures that one condition or another writes: their states follow no pattern. What the worker does not write
// it reads again and again in the state in which it was handed over, two halves of one granule at lines of their own.
// THREADS: 2
// LET: N = 3000
// LET: ROUNDS = 20
// LET: SLIDING = 1009
// LET: RISING = 999
// LET: STILL = 2 * N - SLIDING - RISING
// EXPECT: raw = 8 * N if w == 0 && r == 1
// EXPECT: rar = (ROUNDS - 1) * (2 * N + STILL) + ROUNDS * (STILL + 2 * N) - N if w == 0 && r == 1
// LEVELS: O0, O1, O2, O3 -mavx2
#include "team.h"

enum { N = 3000, ROUNDS = 20, SLIDING = 1, RISING = 2 };

struct ball {
    float x, y, z, u, v, w;
    int kind;
    short weight, colour;
};

static struct ball balls[N];

static NOINLINE void move(struct ball *b, long n) {
    for (long i = 0; i < n; i++) {
        int kind = b[i].kind;
        if (kind == SLIDING)
            b[i].u += .5f;
        else if (kind == RISING)
            b[i].v += .25f;
        b[i].x += b[i].u;
        b[i].y += b[i].v;
        b[i].z += b[i].w;
    }
}

static NOINLINE float shine(const struct ball *b, long n) {
    float all = 0;
    for (long i = 0; i < n; i++) {
        float light = b[i].u + b[i].v;
        light *= b[i].weight;
        light += b[i].colour;
        all += light;
    }
    return all;
}

static void *work(void *unused) {
    for (int round = 0; round < ROUNDS; round++) {
        move(balls, N);
        USE(shine(balls, N) > 0);
    }
    return unused;
}

int main(void) {
    for (unsigned i = 0; i < N; i++)
        balls[i] = (struct ball){i, i, i, 1, 1, 1, (int)((i * 2654435761u >> 13) % 3), 1, 2};
    one(work, NULL);
    return 0;
}
