// Factors that a store might change, for all that the compiler knows, are read again in each iteration: 10 granules, of which each
// is read again after the nine others. Every few loops one of these reads is to be sampled, and with two readers the other one's
// mark is on them.
// THREADS: 3
// LEVELS: O2, O3
// FLAGS: -fno-vectorize
// LET: N = 1000
// LET: ROUNDS = 3000
// EXPECT: raw = 10 if w == 0 && r != 0
// EXPECT: rar = 10 * N * ROUNDS - 10 if w == 0 && r != 0
#include "team.h"

enum { N = 1000, ROUNDS = 3000, FACTORS = 5 };
static double factors[FACTORS];

NOINLINE static void smooth(double *out, const double *in, const double *factor) {
    for (int i = 0; i < N; i++)
        for (int k = 0; k < FACTORS; k++)
            out[i] += factor[k] * in[i + k];
}

static void *rounds(void *unused) {
    double in[N + FACTORS], out[N];
    for (int i = 0; i < N + FACTORS; i++)
        in[i] = i;
    for (int i = 0; i < N; i++)
        out[i] = 0;
    double *to = out, *factor = factors;
    __asm__("" : "+r"(to), "+r"(factor));
    for (int round = 0; round < ROUNDS; round++)
        smooth(to, in, factor);
    for (int i = 0; i < N; i++)
        USE(out[i]);
    return unused;
}

int main(void) {
    for (int k = 0; k < FACTORS; k++)
        factors[k] = 1.0 / (k + 1);
    team(2, rounds);
    return 0;
}
