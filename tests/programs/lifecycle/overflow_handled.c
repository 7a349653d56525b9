// The program handles its own stack overflow on a stack of its own.
// LEVELS: O2
// THREADS: 3
// ENDS: exit 7
// ENDED: normally
// LET: N = 100
// EXPECT: raw = N if w == 1 && r == 2
#include "handover.h"
#include <signal.h>

static NOINLINE int deeper(int n) {
    volatile char frame[4096];
    frame[n % 4096] = 1;
    return deeper(n + 1) + frame[0];
}

static void on_overflow(int unused) {
    (void)unused;
    exit(7);
}

int main(void) {
    hand_over();
    stack_t stack = {.ss_sp = malloc(1 << 16), .ss_size = 1 << 16};
    struct sigaction action = {.sa_handler = on_overflow, .sa_flags = SA_ONSTACK};
    sigaltstack(&stack, NULL);
    sigaction(SIGSEGV, &action, NULL);
    return deeper(0);
}
