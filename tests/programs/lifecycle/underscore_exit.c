// _exit in mid-run: nothing is flushed, but the counts are in the profile.
// LEVELS: O2
// THREADS: 3
// ENDS: exit 3
// ENDED: abnormally
// LET: N = 100
// EXPECT: raw = N if w == 1 && r == 2
#include "handover.h"
#include <unistd.h>

int main(void) {
    hand_over();
    _exit(3);
}
