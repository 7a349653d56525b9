// REFUSE: false-sharing
// THREADTALK: memory,control
// Two workers advance a list of records, one member after the other, and then main does: they take turns. What main adds to
// and what a worker advances lie in one cache line, and no value goes from the one line to the other, but others do in
// loops beside them: the lines would go to and fro if each member had its own.
#include <pthread.h>
#include <stdint.h>

#define N 20000
#define ROUNDS 20

struct record {
    unsigned long low, high, at;
};

static struct record records[2 * N], moved[2 * N];
static pthread_barrier_t turn;

static void *work(void *argument) {
    struct record *own = records + (intptr_t)argument * N;
    for (int k = 0; k < ROUNDS; k++) {
        pthread_barrier_wait(&turn);
        for (int i = 0; i < N; i++)
            own[i].at++;
        for (int i = 0; i < N; i++)
            own[i].low = own[i].high = own[i].low * 3 + own[i].at;
        pthread_barrier_wait(&turn);
    }
    return 0;
}

int main(void) {
    pthread_t threads[2];
    pthread_barrier_init(&turn, 0, 3);
    for (intptr_t b = 0; b < 2; b++)
        pthread_create(&threads[b], 0, work, (void *)b);
    for (int k = 0; k < ROUNDS; k++) {
        for (int i = 0; i < 2 * N; i++)
            records[i] = moved[2 * N - 1 - i];
        pthread_barrier_wait(&turn);
        pthread_barrier_wait(&turn);
        for (int i = 0; i < 2 * N; i++)
            records[i].low += i, records[i].high += i;
        for (int i = 0; i < 2 * N; i++)
            moved[i] = records[i];
    }
    for (int b = 0; b < 2; b++)
        pthread_join(threads[b], 0);
    return moved[0].low == 1;
}
