// What exit handlers and destructors of the program read is still counted: they run after main.
// LEVELS: O2
// THREADS: 3
// ENDS: exit 0
// ENDED: normally
// LET: N = 100
// EXPECT: raw = N if w == 1 && (r == 2 || r == 0)
// EXPECT: rar = N if w == 1 && r == 0
#include "handover.h"

static NOINLINE void late(void) {
    for (int i = 0; i < N; i++)
        USE(words[i]);
}

__attribute__((destructor)) static void latest(void) { late(); }

int main(void) {
    hand_over();
    atexit(late);
    return 0;
}
