/* The gain of opening one more centre in a facility location problem (pthreads), the row "Streamcluster" of the
 * paper's Table 2.
 *
 * What communicates: each candidate's coordinates, which the main thread wrote, are read by all threads; the threads'
 * sums go to the main thread, whose decision goes back to all. No code is better here: the threads' pattern is a star,
 * and what helps is where they run. */
#include "../kernel.h"

enum { DIMENSIONS = 32 };

static struct {
    struct kernel_options options;
    float *points;      /* row of each point */
    int64_t *cost;      /* of each point with the centres so far, in 2^-20 */
    int64_t *part;      /* gain found by each thread, a line of memory apart */
    long candidate;
    int open;
    pthread_barrier_t barrier;
} shared;

static inline int64_t distance(const float *a, const float *b) {
    float sum = 0;
    for (long d = 0; d < DIMENSIONS; d++)
        sum += (a[d] - b[d]) * (a[d] - b[d]);
    return (int64_t)(sum * 0x1p20f);
}

static int64_t gain(long first, long end) {
    const float *centre = &shared.points[shared.candidate * DIMENSIONS];
    int64_t sum = 0;
    for (long i = first; i < end; i++) {
        int64_t cost = distance(&shared.points[i * DIMENSIONS], centre);
        if (cost < shared.cost[i])
            sum += shared.cost[i] - cost;
    }
    return sum;
}

static void assign(long first, long end) {
    const float *centre = &shared.points[shared.candidate * DIMENSIONS];
    for (long i = first; i < end; i++) {
        int64_t cost = distance(&shared.points[i * DIMENSIONS], centre);
        if (cost < shared.cost[i])
            shared.cost[i] = cost;
    }
}

static void *work(void *argument) {
    long id = (long)(intptr_t)argument, threads = shared.options.threads, n = shared.options.size;
    long first = kernel_share(n, id, threads), end = kernel_share(n, id + 1, threads);
    for (long step = 0; step < shared.options.steps; step++) {
        if (id == 0)
            shared.candidate = (long)(kernel_noise((uint64_t)step) * (double)n);
        pthread_barrier_wait(&shared.barrier);
        shared.part[8 * id] = gain(first, end);
        pthread_barrier_wait(&shared.barrier);
        if (id == 0) {
            int64_t all = 0;
            for (long other = 0; other < threads; other++)
                all += shared.part[8 * other];
            shared.open = all > (int64_t)(n * 1000);
        }
        pthread_barrier_wait(&shared.barrier);
        if (shared.open)
            assign(first, end);
        /* The next candidate is written when nobody reads this one any more. */
        pthread_barrier_wait(&shared.barrier);
    }
    return NULL;
}

int main(int argc, char **argv) {
    shared.options = kernel_parse(argc, argv, (struct kernel_options){2, 20000, 200, 1});
    long n = shared.options.size;
    shared.points = kernel_alloc((size_t)(n * DIMENSIONS), sizeof *shared.points);
    shared.cost = kernel_alloc((size_t)n, sizeof *shared.cost);
    shared.part = kernel_alloc((size_t)shared.options.threads * 8, sizeof *shared.part);
    for (long i = 0; i < n * DIMENSIONS; i++)
        shared.points[i] = (float)kernel_noise((uint64_t)i);
    for (long i = 0; i < n; i++)
        shared.cost[i] = (int64_t)1 << 40;
    pthread_barrier_init(&shared.barrier, NULL, (unsigned)shared.options.threads);
    kernel_team(shared.options.threads, work);
    pthread_barrier_destroy(&shared.barrier);
    uint64_t checksum = 0;
    for (long i = 0; i < n; i++)
        checksum = kernel_mix(checksum, (uint64_t)shared.cost[i]);
    kernel_print(checksum);
    return 0;
}
