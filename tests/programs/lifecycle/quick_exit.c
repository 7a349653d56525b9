// quick_exit runs its own handlers, then ends at once.
// LEVELS: O2
// THREADS: 3
// ENDS: exit 4
// ENDED: abnormally
// LET: N = 100
// EXPECT: raw = N if w == 1 && r == 2
#include "handover.h"

static void handler(void) { _Exit(4); }

int main(void) {
    hand_over();
    at_quick_exit(handler);
    quick_exit(9);
}
