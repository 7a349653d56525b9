// A fatal signal that nobody handles.
// LEVELS: O2
// THREADS: 3
// ENDS: signal 15
// ENDED: abnormally
// LET: N = 100
// EXPECT: raw = N if w == 1 && r == 2
#include "handover.h"
#include <signal.h>

int main(void) {
    hand_over();
    raise(SIGTERM);
    return 0;
}
