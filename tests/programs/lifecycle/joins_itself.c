// Main joins itself: the library says EDEADLK, and the program goes on, as some old benchmarks do.
// LEVELS: O2
// THREADS: 3
// STDOUT: deadlock avoided
// LET: N = 100
// EXPECT: raw = N if w == 1 && r == 2
#include "handover.h"
#include <errno.h>

int main(void) {
    hand_over();
    if (pthread_join(pthread_self(), NULL) == EDEADLK)
        puts("deadlock avoided");
    return 0;
}
