// Fields of structures that two threads have written, each at a line of its own, read side by side in a loop that calls
// the mathematical library: one access covers several states. Also 16 bytes that begin inside of a granule.
// THREADS: 4
// LET: N = 300
// LET: ROUNDS = 9
// EXPECT: raw = 7 * N if w == 1 && r == 3; 8 * N if w == 2 && r == 3
// EXPECT: rar = 7 * N * (ROUNDS - 1) if w == 1 && r == 3; 8 * N * (ROUNDS - 1) if w == 2 && r == 3
// LEVELS: O0, O1, O2, O3 -mavx2
// FLAGS: -lm
#include "team.h"
#include <math.h>
#include <string.h>

enum { N = 300, ROUNDS = 9 };
static struct body {
    double x, y, z, mass;
    float u, v;
} bodies[N];
static double sum;
// A pair of numbers at byte 2, read in one access.
typedef double pair __attribute__((vector_size(16), aligned(1)));
static char odd[N][20] __attribute__((aligned(4)));

static void *begin(void *unused) {
    double one = 1;
    for (int i = 0; i < N; i++) {
        bodies[i].x = i;
        bodies[i].z = 2;
        bodies[i].u = 3;
        memcpy(&odd[i][2], &one, 8);
    }
    return unused;
}

static void *end(void *unused) {
    double one = 1;
    for (int i = 0; i < N; i++) {
        bodies[i].y = i;
        bodies[i].mass = 2;
        bodies[i].v = 3;
        memcpy(&odd[i][10], &one, 8);
    }
    return unused;
}

static NOINLINE double lengths(int n) {
    double sum = 0;
    for (int i = 0; i < n; i++) {
        double x = bodies[i].x, y = bodies[i].y, z = bodies[i].z, mass = bodies[i].mass;
        float u = bodies[i].u, v = bodies[i].v;
        pair both = *(volatile pair *)&odd[i][2];
        if (sqrt(x * x + y * y + z * z) < mass + u * v)
            sum += exp(both[0]);
        sum += both[1];
    }
    return sum;
}

static void *reads(void *unused) {
    for (int r = 0; r < ROUNDS; r++) {
        sum += lengths(N);
        FENCE();
    }
    return unused;
}

int main(void) {
    one(begin, NULL);
    one(end, NULL);
    one(reads, NULL);
    return 0;
}
