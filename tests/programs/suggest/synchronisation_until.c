// REFUSE: synchronisation
// THREADTALK: memory,control
// Threads work until another one has had enough. They look at that after each piece, and wait for nothing.
#include <pthread.h>
#include <stdatomic.h>

#define T 2

static atomic_int enough;
static volatile int work;
static pthread_barrier_t start;
static unsigned long states[T][8];

static __attribute__((noinline)) void piece(unsigned long *state) {
    for (int i = 0; i < 30; i++)
        *state = *state * 6364136223846793005ul + 1442695040888963407ul;
}

static void *simulate(void *p) {
    unsigned long *state = p;
    pthread_barrier_wait(&start);
    while (!atomic_load_explicit(&enough, memory_order_relaxed))
        piece(state);
    return p;
}

int main(void) {
    pthread_t threads[T];
    atomic_store(&enough, 0);
    pthread_barrier_init(&start, 0, T + 1);
    for (int t = 0; t < T; t++)
        pthread_create(&threads[t], 0, simulate, states[t]);
    pthread_barrier_wait(&start);
    for (int i = 0; i < 20000000; i++)
        work = i;
    atomic_store(&enough, 1);
    for (int t = 0; t < T; t++)
        pthread_join(threads[t], 0);
    return states[0][0] == 1;
}
