// swapcontext between two stacks of one thread, in mid-function: both sides' reads are the thread's.
// LEVELS: O0, O2
// THREADS: 3
// STDOUT: 99
// LET: N = 100
// EXPECT: raw in side = N if w == 1 && r == 2
// EXPECT: raw in switching = 0
#include "handover.h"
#include <ucontext.h>

static ucontext_t here, there;
static char stack[1 << 16];
static int current;

static void side(void) {
    for (int i = 0; i < N; i++) {
        current = words[i];
        swapcontext(&there, &here);
    }
}

static void *switching(void *unused) {
    getcontext(&there);
    there.uc_stack.ss_sp = stack;
    there.uc_stack.ss_size = sizeof stack;
    there.uc_link = &here;
    makecontext(&there, side, 0);
    for (int i = 0; i < N; i++)
        swapcontext(&here, &there);
    printf("%d\n", current);
    return unused;
}

int main(void) {
    one(give, NULL);
    one(switching, NULL);
    return 0;
}
