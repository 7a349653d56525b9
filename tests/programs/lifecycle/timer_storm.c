// A timer interrupts instrumented code, hooks included, thousands of times a second. The interrupted code's counts may not suffer;
// of the handler's own reads, those that arrive inside a hook may be dropped.
// LEVELS: O2
// RUNS: 1
// THREADS: 3
// LET: SWEEPS = 400
// LET: N = 20000
// EXPECT: raw in sweep = N if w == 1 && r == 2
// EXPECT: rar in sweep = (SWEEPS - 1) * N if w == 1 && r == 2
// EXPECT: raw in on_tick <= 8
#include "team.h"
#include <signal.h>
#include <sys/time.h>

enum { N = 20000, SWEEPS = 400 };
static volatile int words[N], marks[8];

static void on_tick(int unused) {
    (void)unused;
    for (int i = 0; i < 8; i++)
        USE(marks[i]);
}

static void *fill(void *unused) {
    for (int i = 0; i < N; i++)
        words[i] = i;
    for (int i = 0; i < 8; i++)
        marks[i] = i;
    return unused;
}

NOINLINE void sweep(void) {
    for (int i = 0; i < N; i++)
        USE(words[i]);
}

static void *sweeps(void *unused) {
    for (volatile int k = 0; k < SWEEPS; k++)
        sweep();
    return unused;
}

int main(void) {
    struct sigaction action = {.sa_handler = on_tick, .sa_flags = SA_RESTART};
    struct itimerval often = {{0, 100}, {0, 100}}, never = {{0, 0}, {0, 0}};
    sigaction(SIGPROF, &action, NULL);
    one(fill, NULL);
    setitimer(ITIMER_PROF, &often, NULL);
    one(sweeps, NULL);
    setitimer(ITIMER_PROF, &never, NULL);
    return 0;
}
