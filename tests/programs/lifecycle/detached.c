// Detached threads: one ended long ago, one is still blocked when main returns.
// LEVELS: O2
// THREADS: 4
// LET: N = 100
// EXPECT: raw = N if w == 1 && r == 2; N if w == 1 && r == 3
#include "handover.h"
#include <unistd.h>

static pthread_barrier_t seen;

static void *take_and_tell(void *unused) {
    take(unused);
    pthread_barrier_wait(&seen);
    return unused;
}

static void *take_and_stay(void *unused) {
    take(unused);
    pthread_barrier_wait(&seen);
    for (;;)
        pause();
    return unused;
}

int main(void) {
    pthread_t first, second;
    pthread_barrier_init(&seen, NULL, 3);
    one(give, NULL);
    pthread_create(&first, NULL, take_and_tell, NULL);
    pthread_create(&second, NULL, take_and_stay, NULL);
    pthread_detach(first);
    pthread_detach(second);
    pthread_barrier_wait(&seen);
    return 0;
}
