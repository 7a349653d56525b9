/* Conjugate gradients on a sparse symmetric matrix in compressed rows (OpenMP).
 *
 * What communicates: multiply gathers elements of the direction p, which other threads wrote in the last update;
 * dot reads the partial sums of all threads. Dot products are summed over CHUNKS fixed chunks, whoever computes them. */
#include "kernel.h"
#include <omp.h>

enum { CHUNKS = 256, PARTNERS = 12 };

static struct kernel_options options;
static long n;
static long *row_begin, *column;
static double *value;

/* The k-th partner of a row: rows are paired by reflections i <-> (c - i) mod n, so the matrix is symmetric. */
static long partner(long row, long k) {
    long centre = (long)(kernel_noise((uint64_t)k) * (double)n);
    return ((centre - row) % n + n) % n;
}

static void build(void) {
    row_begin = kernel_alloc((size_t)n + 1, sizeof *row_begin);
    column = kernel_alloc((size_t)(n * (PARTNERS + 1)), sizeof *column);
    value = kernel_alloc((size_t)(n * (PARTNERS + 1)), sizeof *value);
    long at = 0;
    for (long i = 0; i < n; i++) {
        row_begin[i] = at;
        column[at] = i;
        value[at++] = PARTNERS + 1;
        for (long k = 0; k < PARTNERS; k++) {
            column[at] = partner(i, k);
            value[at++] = -kernel_noise((uint64_t)(PARTNERS + k));
        }
    }
    row_begin[n] = at;
}

static void multiply(double *out, const double *in) {
#pragma omp parallel for schedule(static)
    for (long i = 0; i < n; i++) {
        double sum = 0;
        for (long e = row_begin[i]; e < row_begin[i + 1]; e++)
            sum += value[e] * in[column[e]];
        out[i] = sum;
    }
}

static double dot(const double *a, const double *b) {
    static double partial[CHUNKS];
#pragma omp parallel for schedule(static)
    for (long c = 0; c < CHUNKS; c++) {
        double sum = 0;
        for (long i = kernel_share(n, c, CHUNKS); i < kernel_share(n, c + 1, CHUNKS); i++)
            sum += a[i] * b[i];
        partial[c] = sum;
    }
    double sum = 0;
    for (long c = 0; c < CHUNKS; c++)
        sum += partial[c];
    return sum;
}

/* y := x * factor + y * keep */
static void update(double *y, double keep, const double *x, double factor) {
#pragma omp parallel for schedule(static)
    for (long i = 0; i < n; i++)
        y[i] = x[i] * factor + y[i] * keep;
}

int main(int argc, char **argv) {
    options = kernel_parse(argc, argv, (struct kernel_options){2, 200000, 200, 1});
    n = options.size;
    omp_set_num_threads((int)options.threads);
    build();
    double *x = kernel_alloc((size_t)n, sizeof *x), *r = kernel_alloc((size_t)n, sizeof *r);
    double *p = kernel_alloc((size_t)n, sizeof *p), *q = kernel_alloc((size_t)n, sizeof *q);
    for (long i = 0; i < n; i++)
        p[i] = r[i] = kernel_noise((uint64_t)i);
    double norm = dot(r, r);
    for (long step = 0; step < options.steps && norm > 0; step++) {
        multiply(q, p);
        double alpha = norm / dot(p, q);
        update(x, 1, p, alpha);
        update(r, 1, q, -alpha);
        double next = dot(r, r);
        update(p, next / norm, r, 1);
        norm = next;
    }
    uint64_t checksum = 0;
    for (long i = 0; i < n; i++)
        checksum = kernel_mix_double(checksum, x[i]);
    kernel_print(checksum);
    return 0;
}
