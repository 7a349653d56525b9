// Four workers in a ring: each fills its buffer, then reads its left neighbour's K times.
// THREADS: 5
// LET: N = 1000
// LET: K = 3
// EXPECT: raw = N if w > 0 && r > 0 && r == w % 4 + 1
// EXPECT: rar = (K - 1) * N if w > 0 && r > 0 && r == w % 4 + 1
// EXPECT: sync_raw sum = 0
// EXPECT: raw sum in work = 4 * N
// EXPECT: rar sum in own loop work@reading = 4 * (K - 1) * N
// EXPECT: raw lines written -> read = 4 * N
// EXPECT: rar lines written -> read = 4 * (K - 1) * N
#include "team.h"

enum { N = 1000, K = 3 };
static volatile int buffer[5][N];
static pthread_barrier_t all;

static void *work(void *argument) {
    int self = (int)(intptr_t)argument, left = (self + 2) % 4 + 1;
    for (int i = 0; i < N; i++)
        buffer[self][i] = i; /*@written*/
    pthread_barrier_wait(&all);
    for (int k = 0; k < K; k++)
        for (int i = 0; i < N; i++) /*@reading*/
            USE(buffer[left][i]); /*@read*/
    return NULL;
}

int main(void) {
    pthread_barrier_init(&all, NULL, 4);
    team(4, work);
    return 0;
}
