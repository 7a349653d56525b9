// Instrumented code that runs before the runtime is up: a resolver of an indirect function and constructors of every priority.
// LEVELS: O0, O2
// THREADS: 3
// STDOUT: resolved 5
// LET: N = 100
// EXPECT: raw = N if w == 1 && r == 2
#include "handover.h"

static volatile int early = 1;

static int answer(void) { return 3; }

static int (*resolve(void))(void) {
    early = early + 1;
    return answer;
}

int resolved(void) __attribute__((ifunc("resolve")));

__attribute__((constructor(101))) static void first(void) { early = early + resolved(); }
__attribute__((constructor)) static void second(void) { early = early + 0; }

int main(void) {
    hand_over();
    printf("resolved %d\n", early);
    return 0;
}
