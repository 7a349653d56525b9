// REFUSE: synchronisation
// THREADTALK: memory,control
// Each thread looks once for each item whether somebody sleeps, in a function that is inlined: it waits for nobody.
#include <pthread.h>
#include <stdatomic.h>

#define T 2
#define STEPS 20
#define ITEMS 2000

_Alignas(64) atomic_int sleepers;
_Alignas(64) volatile int woken;
static pthread_barrier_t meeting;
double results[T][16];

static inline void look(void) {
    if (atomic_load_explicit(&sleepers, memory_order_relaxed) > 0)
        woken = 1;
}

static void *work(void *p) {
    double sum = 1;
    for (int item = 0; item < STEPS * ITEMS; item++) {
        for (int k = 0; k < 20; k++)
            sum = sum * 1.0000001 + 0.5;
        if (item % ITEMS == 0) {
            atomic_store(&sleepers, 0);
            pthread_barrier_wait(&meeting);
        }
        look();
    }
    results[(long)p][0] = sum;
    return p;
}

int main(void) {
    pthread_t threads[T];
    pthread_barrier_init(&meeting, 0, T);
    for (long t = 0; t < T; t++)
        pthread_create(&threads[t], 0, work, (void *)t);
    for (int t = 0; t < T; t++)
        pthread_join(threads[t], 0);
    return results[0][0] == 0;
}
