/* Resampling in a particle filter (OpenMP), the row "Particle filter" of the paper's Table 2.
 *
 * What communicates: the main thread sums up the weights; every thread searches the sums for its particles, and
 * takes over positions that others computed. Default: a loop for each array (the draws, then the first, then the second
 * coordinate), as in a program that grew. FUSED: one loop, one search, and no array of draws. */
#include "../kernel.h"
#include <math.h>
#include <omp.h>

struct particles {
    double *x, *y, *weight, *sum, *draw, *next_x, *next_y;
};

/* The first particle from `at` on whose sum is not below the draw. */
static inline long find(const double *sum, long n, long at, double draw) {
    while (at < n - 1 && sum[at] < draw)
        at++;
    return at;
}

static void move_and_weigh(struct particles *p, long n, long step) {
#pragma omp parallel for schedule(static)
    for (long i = 0; i < n; i++) {
        p->x[i] += 1 + 5 * (kernel_noise((uint64_t)(2 * (step * n + i))) - 0.5);
        p->y[i] += -2 + 2 * (kernel_noise((uint64_t)(2 * (step * n + i) + 1)) - 0.5);
        double dx = p->x[i] - (double)step, dy = p->y[i] + 2.0 * (double)step;
        p->weight[i] = exp(-0.05 * (dx * dx + dy * dy));
    }
}

static void accumulate(struct particles *p, long n) {
    double sum = 0;
    for (long i = 0; i < n; i++)
        p->sum[i] = sum += p->weight[i];
}

static inline double draw_of(const struct particles *p, long n, long step, long i) {
    return (kernel_noise((uint64_t)step) + (double)i) / (double)n * p->sum[n - 1];
}

static void resample(struct particles *p, long n, long step) {
#ifdef FUSED
#pragma omp parallel
    {
        long threads = omp_get_num_threads(), id = omp_get_thread_num(), from = 0;
        for (long i = kernel_share(n, id, threads); i < kernel_share(n, id + 1, threads); i++) {
            from = find(p->sum, n, from, draw_of(p, n, step, i));
            p->next_x[i] = p->x[from];
            p->next_y[i] = p->y[from];
        }
    }
#else
#pragma omp parallel for schedule(static)
    for (long i = 0; i < n; i++)
        p->draw[i] = draw_of(p, n, step, i);
#pragma omp parallel for schedule(static)
    for (long i = 0; i < n; i++)
        p->next_x[i] = p->x[find(p->sum, n, 0, p->draw[i])];
#pragma omp parallel for schedule(static)
    for (long i = 0; i < n; i++)
        p->next_y[i] = p->y[find(p->sum, n, 0, p->draw[i])];
#endif
    double *x = p->x, *y = p->y;
    p->x = p->next_x, p->y = p->next_y;
    p->next_x = x, p->next_y = y;
}

int main(int argc, char **argv) {
    struct kernel_options options = kernel_parse(argc, argv, (struct kernel_options){2, 6000, 10, 1});
    long n = options.size;
    double *memory[7];
    for (int i = 0; i < 7; i++)
        memory[i] = kernel_alloc((size_t)n, sizeof(double));
    struct particles p = {memory[0], memory[1], memory[2], memory[3], memory[4], memory[5], memory[6]};
    omp_set_num_threads((int)options.threads);
    uint64_t checksum = 0;
    for (long step = 0; step < options.steps; step++) {
        move_and_weigh(&p, n, step);
        accumulate(&p, n);
        resample(&p, n, step);
        checksum = kernel_mix_double(checksum, p.sum[n - 1]);
    }
    for (long i = 0; i < n; i++)
        checksum = kernel_mix_double(kernel_mix_double(checksum, p.x[i]), p.y[i]);
    kernel_print(checksum);
    return 0;
}
