// REFUSE: load-imbalance
// THREADTALK: memory,control
// Iterations become longer and longer, and threads take the next one when they have finished one: who did how many is
// the scheduler's doing, and nobody waits for it.
#include <pthread.h>
#include <stdatomic.h>
#define T 8
#define N 4000

static atomic_int next;
double sinks[N];

static double spin(int rounds) {
    double x = 1;
    for (int i = 0; i < rounds; i++)
        x = x * 0.5 + i;
    return x;
}

static void *take(void *p) {
    for (int i; (i = atomic_fetch_add(&next, 1)) < N;)
        sinks[i] += spin(i * 3);
    return p;
}

int main(void) {
    pthread_t threads[T];
    for (int t = 0; t < T; t++)
        pthread_create(&threads[t], 0, take, 0);
    for (int t = 0; t < T; t++)
        pthread_join(threads[t], 0);
    return sinks[N - 1] == 0;
}
