// Threads with the smallest stack that the C library allows, and a handler on an alternate stack of the usual size: hooks need little.
// LEVELS: O0, O2
// THREADS: 3
// LET: N = 100
// EXPECT: raw in take = N if w == 1 && r == 2
// EXPECT: rar in take = N if w == 1 && r == 2
#include "handover.h"
#include <limits.h>
#include <signal.h>

static void on_signal(int unused) {
    (void)unused;
    take(NULL);
}

static void *take_twice(void *stack) {
    stack_t alternate = {.ss_sp = stack, .ss_size = 1 << 13};
    sigaltstack(&alternate, NULL);
    take(NULL);
    raise(SIGUSR1);
    return NULL;
}

static void small(void *(*work)(void *), void *argument) {
    pthread_attr_t attributes;
    pthread_t thread;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 16384);
    if (pthread_create(&thread, &attributes, work, argument) != 0)
        abort();
    pthread_join(thread, NULL);
}

int main(void) {
    static char stack[1 << 13] __attribute__((aligned(64)));
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_ONSTACK};
    sigaction(SIGUSR1, &action, NULL);
    small(give, NULL);
    small(take_twice, stack);
    return 0;
}
