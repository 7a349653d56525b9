// REFUSE: false-sharing
// THREADTALK: memory,control
// Each thread counts in a cache line of its own, in which its neighbour looks up the size of the part now and then: however
// often the line is written, it goes away for these few reads.
#include "team.h"

#define T 4
#define N 100000
#define LOOKS 20

static struct {
    _Alignas(64) long size;
    volatile long count;
} parts[T];

static void *work(void *argument) {
    int me = (intptr_t)argument - 1, next = (me + 1) % T;
    for (int look = 0; look < LOOKS; look++)
        for (long i = ((volatile long *)&parts[next].size)[0]; i < N; i++)
            parts[me].count += i;
    return NULL;
}

int main(void) {
    for (int k = 0; k < T; k++)
        parts[k].size = k;
    team(T, work);
    return parts[0].count == 1;
}
