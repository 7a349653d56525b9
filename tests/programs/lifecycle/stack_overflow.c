// The stack runs over in an instrumented function whose variable escapes.
// LEVELS: O2
// THREADS: 3
// ENDS: signal 11
// ENDED: abnormally
// LET: N = 100
// EXPECT: raw = N if w == 1 && r == 2
#include "handover.h"

static volatile void *escaped;

static NOINLINE int deeper(int n) {
    volatile char frame[4096];
    escaped = frame;
    frame[n % 4096] = 1;
    return deeper(n + 1) + frame[0];
}

int main(void) {
    hand_over();
    return deeper(0);
}
