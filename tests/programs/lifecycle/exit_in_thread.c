// A worker calls exit while another one and main wait for ever.
// LEVELS: O2
// THREADS: 4
// ENDS: exit 5
// LET: N = 100
// EXPECT: raw = N if w == 1 && r == 2
#include "handover.h"
#include <unistd.h>

static pthread_barrier_t started;

static void *take_and_exit(void *unused) {
    take(unused);
    pthread_barrier_wait(&started);
    exit(5);
}

static void *wait_for_ever(void *unused) {
    pthread_barrier_wait(&started);
    for (;;)
        pause();
    return unused;
}

int main(void) {
    pthread_t taker, waiter;
    pthread_barrier_init(&started, NULL, 2);
    one(give, NULL);
    pthread_create(&taker, NULL, take_and_exit, NULL);
    pthread_create(&waiter, NULL, wait_for_ever, NULL);
    pthread_join(waiter, NULL);
    return 0;
}
