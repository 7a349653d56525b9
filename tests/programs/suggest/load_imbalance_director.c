// REFUSE: load-imbalance
// THREADTALK: memory,control
// main lets threads that all do the same begin their turns, and waits for each turn's end. It is no member that has
// too little to do.
#include <pthread.h>

#define T 4
#define TURNS 6
#define N 1000000

static pthread_barrier_t turn_begins, turn_ends;
static double temperatures[T][8];

static void *cool(void *p) {
    double *own = p;
    for (int turn = 0; turn < TURNS; turn++) {
        pthread_barrier_wait(&turn_begins);
        double kelvin = *own;
        for (int i = 0; i < N; i++)
            kelvin += (273 - kelvin) * 0.001;
        *own = kelvin;
        pthread_barrier_wait(&turn_ends);
    }
    return p;
}

int main(void) {
    pthread_t threads[T];
    pthread_barrier_init(&turn_begins, 0, T + 1);
    pthread_barrier_init(&turn_ends, 0, T + 1);
    for (int t = 0; t < T; t++)
        pthread_create(&threads[t], 0, cool, temperatures[t]);
    for (int turn = 0; turn < TURNS; turn++) {
        pthread_barrier_wait(&turn_begins);
        pthread_barrier_wait(&turn_ends);
    }
    for (int t = 0; t < T; t++)
        pthread_join(threads[t], 0);
    return temperatures[0][0] == 0;
}
