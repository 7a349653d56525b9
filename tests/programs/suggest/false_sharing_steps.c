// SUGGEST: false-sharing
// THREADTALK: memory,control
// Threads write every fourth element of an array, and read what another one wrote after a barrier: that values pass in the
// second step is no reason for the lines to move at each write of the first.
#include "team.h"

#define T 4
#define N 50000
#define STEPS 5

static volatile long data[N * T];
static pthread_barrier_t over;

static void *work(void *argument) {
    int me = (intptr_t)argument - 1;
    long sum = 0;
    for (int step = 0; step < STEPS; step++) {
        for (int i = me; i < N * T; i += T)
            data[i] = i * step;
        pthread_barrier_wait(&over);
        for (int i = (me + 1) % T; i < N * T; i += T)
            sum += data[i];
        pthread_barrier_wait(&over);
    }
    USE(sum);
    return NULL;
}

int main(void) {
    pthread_barrier_init(&over, NULL, T);
    team(T, work);
    return 0;
}
