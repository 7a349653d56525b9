/* What all kernels share: options, a thread team, reproducible input and the checksum.
 *
 *   kernel [-t threads] [-n size] [-s steps] [-b block]
 *
 * A kernel prints one line, "checksum <16 hex digits>", formed from the bits of its result. All kernels compute
 * the same bits for every number of threads and in all their variants: each element is computed by the same
 * operations in the same order whoever does it, and sums over threads are sums of integers or of fixed chunks. */
#ifndef KERNEL_H
#define KERNEL_H

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct kernel_options {
    long threads, size, steps, block;
};

static inline void kernel_fail(const char *what) {
    fprintf(stderr, "%s; usage: [-t threads] [-n size] [-s steps] [-b block]\n", what);
    exit(2);
}

static inline struct kernel_options kernel_parse(int argc, char **argv, struct kernel_options options) {
    int letter;
    while ((letter = getopt(argc, argv, "t:n:s:b:")) != -1) {
        long *target = letter == 't'   ? &options.threads
                       : letter == 'n' ? &options.size
                       : letter == 's' ? &options.steps
                       : letter == 'b' ? &options.block
                                       : NULL;
        char *end;
        if (!target)
            kernel_fail("unknown option");
        *target = strtol(optarg, &end, 10);
        if (*end || *target < 1)
            kernel_fail("option values are positive integers");
    }
    if (options.threads > 1024)
        kernel_fail("at most 1024 threads");
    return options;
}

static inline void *kernel_alloc(size_t count, size_t size) {
    void *memory = calloc(count, size);
    if (!memory) {
        perror("calloc");
        exit(1);
    }
    return memory;
}

/* The share of `total` that worker `id` of `of` begins at; it ends where the next one begins. */
static inline long kernel_share(long total, long id, long of) {
    return total * id / of;
}

/* A number in [0, 1) that depends on `index` alone (the mixer of splitmix64). */
static inline double kernel_noise(uint64_t index) {
    uint64_t z = (index + 1) * 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return (double)((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

static inline uint64_t kernel_mix(uint64_t checksum, uint64_t bits) {
    checksum = (checksum ^ bits) * 0x100000001b3u;
    return checksum ^ (checksum >> 29);
}

static inline uint64_t kernel_mix_double(uint64_t checksum, double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return kernel_mix(checksum, bits);
}

static inline void kernel_print(uint64_t checksum) {
    printf("checksum %016llx\n", (unsigned long long)checksum);
}

/* Runs `body` with the worker's number on `threads` threads, the calling one being worker 0. */
static inline void kernel_team(long threads, void *(*body)(void *)) {
    pthread_t *team = (pthread_t *)kernel_alloc((size_t)threads, sizeof *team);
    for (long id = 1; id < threads; id++)
        if (pthread_create(&team[id], NULL, body, (void *)(intptr_t)id) != 0)
            kernel_fail("cannot create so many threads");
    body((void *)0);
    for (long id = 1; id < threads; id++)
        pthread_join(team[id], NULL);
    free(team);
}

/* The grid of workers: the most square one of so many. */
static inline void kernel_worker_grid(long threads, long *rows, long *columns) {
    *rows = 1;
    for (long r = 1; r * r <= threads; r++)
        if (threads % r == 0)
            *rows = r;
    *columns = threads / *rows;
}

#endif
