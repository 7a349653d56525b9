// Products of small matrices, again and again. Their sums are not vectorised but unrolled, and what that leaves over, which
// is nothing of one of the sizes, begins where the unrolled loop ends. Each product is one question; its result is the
// thread's own, and nobody wrote near it before.
// THREADS: 2
// LET: ELEMENTS = 16 * 16 + 17 * 17 + 18 * 18 + 19 * 19
// LET: TIMES = 5
// LET: USES = 16 * 16 * 16 + 17 * 17 * 17 + 18 * 18 * 18 + 19 * 19 * 19
// EXPECT: raw lines fill_left -> sum = 2 * ELEMENTS
// EXPECT: raw lines fill_right -> sum = 2 * ELEMENTS
// EXPECT: rar lines fill_left -> sum = 2 * (TIMES * USES - ELEMENTS)
// EXPECT: rar lines fill_right -> sum = 2 * (TIMES * USES - ELEMENTS)
// EXPECT: raw lines result -> all = 2 * ELEMENTS
#include "team.h"

enum { SIZES = 4, LEAST = 16, TIMES = 5 };
static double *left[SIZES], *right[SIZES];
/* Far enough apart that nothing near a result was ever written. */
static double result[SIZES][1 << 16];
static double total;

static NOINLINE void product(double *to, const double *one, const double *other, long size) {
    for (long i = 0; i < size; i++)
        for (long j = 0; j < size; j++) {
            double sum = 0;
            for (long k = 0; k < size; k++)
                sum += one[i * size + k] * other[k * size + j]; /*@sum*/
            to[i * size + j] = sum; /*@result*/
        }
}

static void *work(void *me) {
    for (int time = 0; time < TIMES; time++)
        for (int s = 0; s < SIZES; s++)
            product(result[s], left[s], right[s], LEAST + s);
    return me;
}

int main(void) {
    for (int s = 0; s < SIZES; s++) {
        long elements = (LEAST + s) * (LEAST + s);
        left[s] = malloc(elements * sizeof **left), right[s] = malloc(elements * sizeof **right);
        for (long i = 0; i < elements; i++) {
            left[s][i] = i;      /*@fill_left*/
            right[s][i] = i % 7; /*@fill_right*/
        }
    }
    team(1, work);
    for (int s = 0; s < SIZES; s++)
        for (long i = 0; i < (LEAST + s) * (LEAST + s); i++)
            total += result[s][i]; /*@all*/
    USE(total);
    return 0;
}
