// SUGGEST: synchronisation
// SAYS: Threads spin for a lock there
// A lock is taken by comparing and exchanging constants: nothing is counted in it that could be combined at the end. Threads
// sleep in between, so that it is another one's turn each time on any machine.
#include "team.h"
#include <sched.h>
#include <stdatomic.h>
#include <unistd.h>

#define T 4
#define N 4000

static _Alignas(64) atomic_int held;
static _Alignas(64) long sum;
static pthread_barrier_t start;

static void take(void) {
    for (int expected = 0; !atomic_compare_exchange_weak(&held, &expected, 1); expected = 0)
        sched_yield();
}

static void *add(void *p) {
    pthread_barrier_wait(&start);
    for (int i = 0; i < N; i++) {
        take();
        sum += i;
        atomic_store(&held, 0);
        usleep(1);
    }
    return p;
}

int main(void) {
    pthread_barrier_init(&start, 0, T);
    team(T, add);
    return sum == 0;
}
