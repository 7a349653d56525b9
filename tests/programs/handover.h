// N elements go from worker 1 to worker 2; then the program ends in its own way.
#ifndef HANDOVER_H
#define HANDOVER_H

#include "team.h"

enum { N = 100 };
static volatile int words[N];

static void *give(void *unused) {
    for (int i = 0; i < N; i++)
        words[i] = i;
    return unused;
}

static void *take(void *unused) {
    for (int i = 0; i < N; i++)
        USE(words[i]);
    return unused;
}

static inline void hand_over(void) {
    one(give, NULL);
    one(take, NULL);
}

#endif
