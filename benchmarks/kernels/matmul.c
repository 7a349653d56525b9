/* Product of two dense matrices (OpenMP).
 *
 *   without BLOCKED   each element as a dot product: a column of b is walked with the stride of a row
 *   with BLOCKED      tile by tile, the innermost loop along the rows of b and c
 *
 * What communicates: multiply reads a and b, which the threads filled in with another distribution of the rows
 * (fill is dealt out in turns, multiply in chunks). Each thread writes its own rows of c. */
#include "kernel.h"
#include <omp.h>

static void fill(double *m, long n, uint64_t salt) {
#pragma omp parallel for schedule(static, 1)
    for (long i = 0; i < n; i++)
        for (long j = 0; j < n; j++)
            m[i * n + j] = kernel_noise(salt + (uint64_t)(i * n + j));
}

#ifdef BLOCKED
static long smaller(long a, long b) {
    return a < b ? a : b;
}

static void multiply(double *c, const double *a, const double *b, long n, long tile) {
#pragma omp parallel for schedule(static)
    for (long row = 0; row < n; row += tile)
        for (long depth = 0; depth < n; depth += tile)
            for (long column = 0; column < n; column += tile)
                for (long i = row; i < smaller(row + tile, n); i++)
                    for (long k = depth; k < smaller(depth + tile, n); k++) {
                        double factor = a[i * n + k];
                        for (long j = column; j < smaller(column + tile, n); j++)
                            c[i * n + j] += factor * b[k * n + j];
                    }
}
#else
static void multiply(double *c, const double *a, const double *b, long n, long tile) {
    (void)tile;
#pragma omp parallel for schedule(static)
    for (long i = 0; i < n; i++)
        for (long j = 0; j < n; j++) {
            double sum = 0;
            for (long k = 0; k < n; k++)
                sum += a[i * n + k] * b[k * n + j];
            c[i * n + j] = sum;
        }
}
#endif

int main(int argc, char **argv) {
    struct kernel_options options = kernel_parse(argc, argv, (struct kernel_options){2, 960, 1, 32});
    long n = options.size;
    size_t elements = (size_t)(n * n);
    double *a = kernel_alloc(elements, sizeof *a), *b = kernel_alloc(elements, sizeof *b);
    double *c = kernel_alloc(elements, sizeof *c);
    omp_set_num_threads((int)options.threads);
    fill(a, n, 0);
    fill(b, n, elements);
    multiply(c, a, b, n, options.block);
    uint64_t checksum = 0;
    for (size_t i = 0; i < elements; i++)
        checksum = kernel_mix_double(checksum, c[i]);
    kernel_print(checksum);
    return 0;
}
