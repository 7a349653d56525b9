// Assembly that swaps ebx away and back, as code from before 64-bit processors does, and says nothing of it: only the
// lower half of rbx comes back.
// LEVELS: O1, O2
// THREADS: 3
// LET: N = 100
// EXPECT: raw = N if w == 1 && r == 2
#include "handover.h"
#include <stdio.h>

static unsigned found[4];

int main(void) {
    for (int level = 0; level < 2; level++) {
        unsigned eax, ebx, ecx, edx;
        __asm__ __volatile__("xchg %%ebx, %1\n\tcpuid\n\txchg %%ebx, %1"
                             : "=a"(eax), "=r"(ebx), "=c"(ecx), "=d"(edx)
                             : "a"(level), "2"(0));
        found[0] += eax, found[1] += ebx, found[2] += ecx, found[3] += edx;
    }
    if (found[0] == 0)
        puts("no processor");
    hand_over();
    return 0;
}
