// Main ends by pthread_exit; the process lives on until its last thread ends, and what that one reads counts.
// LEVELS: O2
// THREADS: 3
// STDOUT: last
// LET: N = 100
// EXPECT: raw in take = N if w == 1 && r == 2
#include "handover.h"

static pthread_t main_thread;

static void *take_last(void *unused) {
    pthread_join(main_thread, NULL);
    take(unused);
    puts("last");
    return unused;
}

int main(void) {
    pthread_t last;
    main_thread = pthread_self();
    one(give, NULL);
    pthread_create(&last, NULL, take_last, NULL);
    pthread_exit(NULL);
}
