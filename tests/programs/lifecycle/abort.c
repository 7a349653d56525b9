// abort ends the program by its own signal.
// LEVELS: O2
// THREADS: 3
// ENDS: signal 6
// ENDED: abnormally
// LET: N = 100
// EXPECT: raw = N if w == 1 && r == 2
#include "handover.h"

int main(void) {
    hand_over();
    abort();
}
