/* What the patterns have in common: arguments, threads, rounds, and one number as the result.
 *
 * A pattern defines prepare(), which one thread calls first, and work(), which each thread calls with its number. In
 * most, a thread writes something, waits for the others, and reads what its neighbour wrote; with OWN, what it wrote
 * itself. */
#pragma once

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_THREADS = 256 };

static int threads = 2;
static long n = 4000;
static long rounds = 200;
static pthread_barrier_t all_here;

static void prepare(void);
static double work(int me);

static inline void meet(void) { pthread_barrier_wait(&all_here); }

#if defined(OWN)
static inline int next(int me) { return me; }
#else
static inline int next(int me) { return (me + 1) % threads; }
#endif

static inline uint32_t scattered(uint32_t i) {
    i = (i ^ i >> 16) * 0x45d9f3bu;
    i = (i ^ i >> 16) * 0x45d9f3bu;
    return i ^ i >> 16;
}

static inline void *zeroed(size_t bytes) {
    void *memory = calloc(1, bytes);
    if (memory == NULL) {
        perror("calloc");
        exit(1);
    }
    return memory;
}

static double results[MOST_THREADS];

static void *begin(void *me) {
    int id = (int)(intptr_t)me;
    results[id] = work(id);
    return NULL;
}

int main(int argc, char **argv) {
    for (int option; (option = getopt(argc, argv, "t:n:r:")) != -1;) {
        long value = option == '?' ? 0 : atol(optarg);
        if (value < 1 || (option == 't' && value > MOST_THREADS)) {
            fprintf(stderr, "usage: %s [-t THREADS] [-n SIZE] [-r ROUNDS]\n", argv[0]);
            return 2;
        }
        if (option == 't') threads = (int)value;
        if (option == 'n') n = value;
        if (option == 'r') rounds = value;
    }
    pthread_barrier_init(&all_here, NULL, threads);
    prepare();
    pthread_t team[MOST_THREADS];
    for (int i = 0; i < threads; i++) {
        if (pthread_create(&team[i], NULL, begin, (void *)(intptr_t)i) != 0) {
            perror("pthread_create");
            return 1;
        }
    }
    double sum = 0;
    for (int i = 0; i < threads; i++) {
        pthread_join(team[i], NULL);
        sum += results[i];
    }
    printf("%.9g\n", sum);
    return 0;
}
