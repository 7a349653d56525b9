// Vectors of three numbers that are read as four, as geometry does with registers of 16 bytes: the compiler knows nothing of the
// address, the three were written at lines of their own, and the fourth is the next vector's first. One reader begins inside of numbers.
// THREADS: 4
// LET: N = 300
// LET: TIMES = 5
// EXPECT: raw lines x -> fours = N + 1
// EXPECT: raw lines y -> fours = N
// EXPECT: raw lines z -> fours = N
// EXPECT: rar lines x -> fours = TIMES * 2 * N - (N + 1)
// EXPECT: rar lines y -> fours = (TIMES - 1) * N
// EXPECT: rar lines z -> fours = (TIMES - 1) * N
// EXPECT: raw lines x -> inside = N + 1
// EXPECT: raw lines y -> inside = N + 1
// EXPECT: raw lines z -> inside = N
// EXPECT: rar lines x -> inside = TIMES * 2 * N - (N + 1)
// EXPECT: rar lines y -> inside = TIMES * 2 * N - (N + 1)
// EXPECT: rar lines z -> inside = (TIMES - 1) * N
#include "team.h"

enum { N = 300, TIMES = 5 };
typedef float four __attribute__((vector_size(16), aligned(1)));
static struct three {
    float x, y, z;
} threes[N + 2];

static void *write_threes(void *unused) {
    for (int i = 0; i < N + 2; i++) {
        threes[i].x = i; /*@x*/
        FENCE();
        threes[i].y = i + 1; /*@y*/
        FENCE();
        threes[i].z = i + 2; /*@z*/
        FENCE();
    }
    return unused;
}

NOINLINE four load(const four *at) { return *at; } /*@fours*/

NOINLINE four load_inside(const four *at) { return *at; } /*@inside*/

static void *read_fours(void *unused) {
    for (int k = 0; k < TIMES; k++)
        for (int i = 0; i < N; i++) {
            four read = load((const four *)&threes[i].x);
            USE(read[0]);
        }
    return unused;
}

static void *read_inside(void *unused) {
    for (int k = 0; k < TIMES; k++)
        for (int i = 0; i < N; i++) {
            four read = load_inside((const four *)((const char *)&threes[i].x + 2));
            USE(read[0]);
        }
    return unused;
}

int main(void) {
    one(write_threes, NULL);
    one(read_fours, NULL);
    one(read_inside, NULL);
    return 0;
}
