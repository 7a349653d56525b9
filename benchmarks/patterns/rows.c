/* Numbers in rows and columns: who wrote them, and in which order they are read. */
#include "rounds.h"

static double *matrix;
static double *partner;

static void prepare(void) {
    matrix = zeroed((size_t)n * n * sizeof(double));
    partner = zeroed((size_t)n * n * sizeof(double));
}

static inline long from(int me) { return n * me / threads; }
static inline long to(int me) { return n * (me + 1) / threads; }

#if defined(CYCLIC)
/* Each thread writes every so many elements; all are read. */
__attribute__((noinline)) static void fill(int me, long round) {
    for (long i = me; i < n * n; i += threads) matrix[i] = i + round;
}
__attribute__((noinline)) static double use(int me) {
    double sum = 0;
    for (long i = 0; i < n * n; i++) sum += matrix[i];
    return sum + me;
}
#elif defined(TRANSPOSED)
__attribute__((noinline)) static void fill(int me, long round) {
    for (long i = from(me); i < to(me); i++)
        for (long j = 0; j < n; j++) matrix[i * n + j] = i + j + round;
}
__attribute__((noinline)) static double use(int me) {
    for (long i = from(me); i < to(me); i++)
        for (long j = 0; j < n; j++) partner[i * n + j] = matrix[j * n + i];
    return partner[from(me) * n + 1];
}
#elif defined(STENCIL)
/* Blocks of rows, of which the first and the last are read by a neighbour. */
__attribute__((noinline)) static void fill(int me, long round) {
    for (long i = from(me); i < to(me); i++)
        for (long j = 0; j < n; j++) matrix[i * n + j] = partner[i * n + j] + round;
}
__attribute__((noinline)) static double use(int me) {
    for (long i = from(me) > 0 ? from(me) : 1; i < to(me) && i < n - 1; i++)
        for (long j = 1; j < n - 1; j++)
            partner[i * n + j] = .2 * (matrix[i * n + j] + matrix[i * n + j - 1] + matrix[i * n + j + 1] +
                                       matrix[(i - 1) * n + j] + matrix[(i + 1) * n + j]);
    return partner[from(me) * n + n / 2];
}
#elif defined(SWEEP)
/* Lines of a system of equations: forward along a row and back, each step needs the one before. */
__attribute__((noinline)) static void fill(int me, long round) {
    for (long i = from(me); i < to(me); i++)
        for (long j = 0; j < n; j++) matrix[i * n + j] = 1 + (i + j + round) % 7;
}
__attribute__((noinline)) static double use(int me) {
    double sum = 0;
    for (long i = from(next(me)); i < to(next(me)); i++) {
        for (long j = 1; j < n; j++) partner[i * n + j] = matrix[i * n + j] - .25 * partner[i * n + j - 1];
        for (long j = n - 2; j >= 0; j--) partner[i * n + j] = .5 * (partner[i * n + j] + partner[i * n + j + 1]);
        sum += partner[i * n];
    }
    return sum;
}
#elif defined(PIECES)
/* Pieces of 40 numbers of each row. */
__attribute__((noinline)) static void fill(int me, long round) {
    for (long i = 0; i < n; i++)
        for (long j = from(me); j < to(me); j++) matrix[i * n + j] = i + j + round;
}
__attribute__((noinline)) static double use(int me) {
    double sum = 0;
    for (long piece = from(next(me)); piece + 40 <= to(next(me)); piece += 40)
        for (long i = 0; i < n; i++)
            for (long j = piece; j < piece + 40; j++) sum += matrix[i * n + j];
    return sum;
}
#endif
