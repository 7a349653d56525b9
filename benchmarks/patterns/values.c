/* Values of a size and with operations that only the running program knows: each is copied to the stack, and the result
 * back. */
#include "rounds.h"

typedef void Operation(void *result, const void *left, const void *right);

static void add(void *result, const void *left, const void *right) {
    *(double *)result = *(const double *)left + *(const double *)right;
}
static void multiply(void *result, const void *left, const void *right) {
    *(double *)result = *(const double *)left * *(const double *)right;
}

static volatile size_t width = sizeof(double);
static Operation *volatile combine = multiply, *volatile collect = add;
static char *rows[MOST_THREADS], *factors[MOST_THREADS];

static void prepare(void) {
    for (int i = 0; i < threads; i++) {
        rows[i] = zeroed(n * sizeof(double));
        factors[i] = zeroed(n * sizeof(double));
    }
}

__attribute__((noinline)) static void fill(int me, long round) {
    size_t size = width;
    Operation *step = collect;
    for (long i = 0; i < n; i++) {
        double number = i + round;
        char value[size], result[size];
        memcpy(value, &number, size);
        step(result, value, value);
        memcpy(rows[me] + i * size, result, size);
        memcpy(factors[me] + i * size, value, size);
    }
}

__attribute__((noinline)) static double use(int me) {
    size_t size = width;
    Operation *product = combine, *sum = collect;
    double total = 0;
    for (long i = 0; i < n; i++) {
        char left[size], right[size], result[size];
        memcpy(left, rows[next(me)] + i * size, size);
        memcpy(right, factors[me] + i * size, size);
        product(result, left, right);
        sum(&total, &total, result);
    }
    return total;
}
