// A crash is the program's own crash.
// LEVELS: O2
// THREADS: 3
// ENDS: signal 11
// ENDED: abnormally
// LET: N = 100
// EXPECT: raw = N if w == 1 && r == 2
#include "handover.h"

int main(void) {
    hand_over();
    *(volatile int *)8 = 1;
    return 0;
}
