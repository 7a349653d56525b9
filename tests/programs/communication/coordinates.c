// Coordinates that were written at three lines and are read as a vector of two and a number, again and again: cells of which half
// are in one state and half in another.
// THREADS: 3
// LET: N = 60
// LET: TIMES = 3
// EXPECT: raw lines x -> both = 2 * N
// EXPECT: raw lines y -> both = 2 * N
// EXPECT: raw lines z -> both = 2 * N
// EXPECT: rar lines x -> both = 2 * TIMES * 2 * N * N - 2 * N
// EXPECT: rar lines y -> both = 2 * TIMES * 2 * N * N - 2 * N
// EXPECT: rar lines z -> both = 2 * TIMES * 2 * N * N - 2 * N
// EXPECT: raw lines u -> floats = N
// EXPECT: raw lines v -> floats = N
// EXPECT: rar lines u -> floats = TIMES * 2 * N * N - N
// EXPECT: rar lines v -> floats = TIMES * 2 * N * N - N
#include "team.h"

enum { N = 60, TIMES = 3 };
typedef double three[3];
typedef float two[2];
static struct points {
    three *at, *force;
    two *flat, *turn;
} points;
static three at[N], force[N];
static two flat[N], turn[N];

static void *write_points(void *unused) {
    points.at = at, points.force = force, points.flat = flat, points.turn = turn;
    for (int i = 0; i < N; i++) {
        at[i][0] = i; /*@x*/
        FENCE();
        at[i][1] = 2 * i; /*@y*/
        FENCE();
        at[i][2] = 3 * i; /*@z*/
        FENCE();
        flat[i][0] = i; /*@u*/
        FENCE();
        flat[i][1] = i + 1; /*@v*/
        FENCE();
    }
    return unused;
}

NOINLINE void pull(struct points *p, double cut) {
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            double d[3], square = 0;
            for (int m = 0; m < 3; m++)
                d[m] = p->at[i][m] - p->at[j][m], square += d[m] * d[m]; /*@both*/
            if (square > cut)
                for (int m = 0; m < 3; m++)
                    p->force[i][m] -= d[m];
        }
}

NOINLINE void twist(struct points *p, float cut) {
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            float d[2], square = 0;
            for (int m = 0; m < 2; m++)
                d[m] = p->flat[i][m] - p->flat[j][m], square += d[m] * d[m]; /*@floats*/
            if (square > cut)
                for (int m = 0; m < 2; m++)
                    p->turn[i][m] -= d[m];
        }
}

static void *read_points(void *unused) {
    for (int k = 0; k < TIMES; k++) {
        pull(&points, k);
        twist(&points, k);
    }
    return unused;
}

int main(void) {
    one(write_points, NULL);
    one(read_points, NULL);
    USE(force[1][2]);
    USE(turn[1][1]);
    return 0;
}
