/* Jacobi iteration with a 5-point stencil on a square grid (OpenMP).
 *
 * What communicates: sweep reads the last row of the thread before and the first row of the thread after; the first
 * sweep reads what the main thread filled in. The residual is a maximum, which does not depend on the order. */
#include "kernel.h"
#include <math.h>
#include <omp.h>

static double sweep(double *to, const double *from, long n) {
    double residual = 0;
    long stride = n + 2;
#pragma omp parallel for schedule(static) reduction(max : residual)
    for (long i = 1; i <= n; i++)
        for (long j = 1; j <= n; j++) {
            const double *p = &from[i * stride + j];
            to[i * stride + j] = 0.25 * (p[-stride] + p[-1] + p[1] + p[stride]);
        }
#pragma omp parallel for schedule(static) reduction(max : residual)
    for (long i = 1; i <= n; i += 16)
        for (long j = 1; j <= n; j++)
            residual = fmax(residual, fabs(to[i * stride + j] - from[i * stride + j]));
    return residual;
}

int main(int argc, char **argv) {
    struct kernel_options options = kernel_parse(argc, argv, (struct kernel_options){2, 1024, 700, 1});
    size_t points = (size_t)((options.size + 2) * (options.size + 2));
    double *from = kernel_alloc(points, sizeof *from), *to = kernel_alloc(points, sizeof *to);
    omp_set_num_threads((int)options.threads);
    for (size_t i = 0; i < points; i++)
        from[i] = to[i] = kernel_noise(i);
    uint64_t checksum = 0;
    for (long step = 0; step < options.steps; step++) {
        checksum = kernel_mix_double(checksum, sweep(to, from, options.size));
        double *swap = from;
        from = to;
        to = swap;
    }
    for (size_t i = 0; i < points; i++)
        checksum = kernel_mix_double(checksum, from[i]);
    kernel_print(checksum);
    return 0;
}
