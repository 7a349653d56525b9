// What the programs share. Everything here keeps the counts predictable: a worker's number travels in the argument itself, so
// that starting it communicates nothing, and locks and barriers are the C library's, whose memory is not instrumented.
#ifndef TEAM_H
#define TEAM_H

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define NOINLINE __attribute__((noinline))
// The compiler must have written everything and may assume nothing about memory.
#define FENCE() __asm__ volatile("" ::: "memory")
// The value is used; nothing is stored.
#define USE(value) __asm__ volatile("" ::"r"(value) : "memory")
#define MOST 256

// Starts workers 1..n; the argument of worker k is k. Returns when all have ended.
static inline void team(int n, void *(*work)(void *)) {
    pthread_t threads[MOST];
    for (intptr_t k = 1; k <= n; k++)
        if (pthread_create(&threads[k - 1], NULL, work, (void *)k) != 0)
            abort();
    for (int k = 0; k < n; k++)
        pthread_join(threads[k], NULL);
}

// Starts one thread and waits for its end.
static inline void one(void *(*work)(void *), void *argument) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, work, argument) != 0)
        abort();
    pthread_join(thread, NULL);
}

#endif
