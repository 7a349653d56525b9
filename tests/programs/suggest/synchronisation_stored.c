// SUGGEST: synchronisation
// SAYS: pass several values on at a time
// Each thread stores how far it is, and looks at how far the others are: there is nothing to count or to reduce.
#include <pthread.h>
#include <stdatomic.h>
#define T 4
#define STEPS 4000

static atomic_int places[T];
static pthread_barrier_t meeting;

static void *walk(void *p) {
    int own = (int)(long)p, ahead = 0;
    for (int step = 1; step <= STEPS; step++) {
        atomic_store_explicit(&places[own], step, memory_order_release);
        pthread_barrier_wait(&meeting);
        for (int t = 0; t < T; t++)
            ahead += atomic_load_explicit(&places[t], memory_order_acquire) > step;
        pthread_barrier_wait(&meeting);
    }
    return (void *)(long)ahead;
}

int main(void) {
    pthread_t threads[T];
    pthread_barrier_init(&meeting, 0, T);
    for (long t = 0; t < T; t++)
        pthread_create(&threads[t], 0, walk, (void *)t);
    for (int t = 0; t < T; t++)
        pthread_join(threads[t], 0);
    return 0;
}
