// A thread that is cancelled in a blocking call unwinds through an instrumented cleanup handler, which reads.
// LEVELS: O0, O2
// THREADS: 3
// STDOUT: cancelled
// LET: N = 100
// EXPECT: raw in take = N if w == 1 && r == 2
#include "handover.h"
#include <unistd.h>

static void cleanup(void *unused) { take(unused); }

static void *wait_for_ever(void *unused) {
    pthread_cleanup_push(cleanup, NULL);
    for (;;)
        pause();
    pthread_cleanup_pop(0);
    return unused;
}

int main(void) {
    pthread_t waiter;
    void *result;
    one(give, NULL);
    pthread_create(&waiter, NULL, wait_for_ever, NULL);
    pthread_cancel(waiter);
    pthread_join(waiter, &result);
    if (result == PTHREAD_CANCELED)
        puts("cancelled");
    return 0;
}
