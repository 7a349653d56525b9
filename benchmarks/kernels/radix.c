/* Radix sort of 32-bit keys (pthreads, barriers).
 *
 * What communicates: ranks reads the histograms of all workers, histogram and permute read the keys that all workers
 * wrote into this worker's share in the last pass: all to all, each key once for each pass. */
#include "kernel.h"

enum { BITS = 8, BUCKETS = 1 << BITS };

static struct kernel_options options;
static uint32_t *keys, *other;
static long (*counts)[BUCKETS];
static pthread_barrier_t barrier;

static void histogram(const uint32_t *from, long begin, long end, int shift, long *count) {
    memset(count, 0, BUCKETS * sizeof *count);
    for (long i = begin; i < end; i++)
        count[from[i] >> shift & (BUCKETS - 1)]++;
}

/* Where this worker's first key of each bucket goes. */
static void ranks(long id, long *rank) {
    long position = 0;
    for (long bucket = 0; bucket < BUCKETS; bucket++)
        for (long worker = 0; worker < options.threads; worker++) {
            if (worker == id)
                rank[bucket] = position;
            position += counts[worker][bucket];
        }
}

static void permute(uint32_t *to, const uint32_t *from, long begin, long end, int shift, long *rank) {
    for (long i = begin; i < end; i++)
        to[rank[from[i] >> shift & (BUCKETS - 1)]++] = from[i];
}

static void *sort(void *argument) {
    long id = (intptr_t)argument, rank[BUCKETS];
    long begin = kernel_share(options.size, id, options.threads);
    long end = kernel_share(options.size, id + 1, options.threads);
    uint32_t *from = keys, *to = other;
    for (long step = 0; step < options.steps; step++)
        for (int shift = 0; shift < 32; shift += BITS) {
            histogram(from, begin, end, shift, counts[id]);
            pthread_barrier_wait(&barrier);
            ranks(id, rank);
            permute(to, from, begin, end, shift, rank);
            pthread_barrier_wait(&barrier);
            uint32_t *swap = from;
            from = to;
            to = swap;
        }
    return NULL;
}

int main(int argc, char **argv) {
    options = kernel_parse(argc, argv, (struct kernel_options){2, 4000000, 16, 1});
    keys = kernel_alloc((size_t)options.size, sizeof *keys);
    other = kernel_alloc((size_t)options.size, sizeof *other);
    counts = kernel_alloc((size_t)options.threads, sizeof *counts);
    for (long i = 0; i < options.size; i++)
        keys[i] = (uint32_t)(kernel_noise((uint64_t)i) * 0x1p32);
    pthread_barrier_init(&barrier, NULL, (unsigned)options.threads);
    kernel_team(options.threads, sort);
    uint64_t checksum = 0;
    for (long i = 0; i < options.size; i++)
        checksum = kernel_mix(checksum, keys[i]);
    kernel_print(checksum);
    return 0;
}
