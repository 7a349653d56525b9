// A signal handler is instrumented code like any other: raised outside of any hook its reads count in full.
// LEVELS: O0, O2
// THREADS: 3
// LET: N = 100
// EXPECT: raw in on_signal = N if w == 1 && r == 2
// EXPECT: rar in on_signal = N if w == 1 && r == 2
#include "handover.h"
#include <signal.h>

static void on_signal(int unused) {
    (void)unused;
    for (int i = 0; i < N; i++)
        USE(words[i]);
}

static void *raise_twice(void *unused) {
    raise(SIGUSR2);
    raise(SIGUSR2);
    return unused;
}

int main(void) {
    signal(SIGUSR2, on_signal);
    one(give, NULL);
    one(raise_twice, NULL);
    return 0;
}
