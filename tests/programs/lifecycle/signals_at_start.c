// A timer's signals go to any thread, also to one that has only just been made: each thread is counted once, and none
// more. What a thread has blocked is what its creator had, or what its attributes say.
// LEVELS: O0, O2
// RUNS: 1
// THREADS: 303
// LET: N = 4
// EXPECT: raw in look = N if w == 0 && r == 302
#define _GNU_SOURCE
#include "team.h"
#include <signal.h>
#include <sys/time.h>

enum { ROUNDS = 50, AT_ONCE = 6, N = 4 };
static volatile int ticks, table[N];
static volatile sig_atomic_t wrong;

static void tick(int unused) {
    (void)unused;
    ticks++;
}

static void *blocked(void *expected) {
    sigset_t now;
    pthread_sigmask(SIG_BLOCK, NULL, &now);
    for (int signal = 1; signal < 32; signal++)
        wrong |= sigismember(&now, signal) != sigismember(expected, signal);
    return NULL;
}

NOINLINE void look(void) {
    for (int i = 0; i < N; i++)
        USE(table[i]);
}

static void *looks(void *unused) {
    look();
    return unused;
}

int main(void) {
    struct sigaction action = {.sa_handler = tick, .sa_flags = SA_RESTART};
    struct itimerval often = {{0, 200}, {0, 200}}, never = {{0, 0}, {0, 0}};
    sigset_t own, others;
    sigemptyset(&own);
    sigaddset(&own, SIGUSR1);
    pthread_sigmask(SIG_SETMASK, &own, NULL);
    for (int i = 0; i < N; i++)
        table[i] = i;
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &often, NULL);
    for (int round = 0; round < ROUNDS; round++) {
        pthread_t threads[AT_ONCE];
        for (int k = 0; k < AT_ONCE; k++)
            if (pthread_create(&threads[k], NULL, blocked, &own) != 0)
                return 2;
        for (int k = 0; k < AT_ONCE; k++)
            pthread_join(threads[k], NULL);
    }

    pthread_attr_t attributes;
    sigfillset(&others);
    sigdelset(&others, SIGTERM);
    sigdelset(&others, SIGKILL); // nobody can block these two
    sigdelset(&others, SIGSTOP);
    pthread_attr_init(&attributes);
    pthread_attr_setsigmask_np(&attributes, &others);
    pthread_t thread;
    if (pthread_create(&thread, &attributes, blocked, &others) != 0)
        return 2;
    pthread_join(thread, NULL);
    setitimer(ITIMER_REAL, &never, NULL);
    one(looks, NULL);
    return wrong;
}
