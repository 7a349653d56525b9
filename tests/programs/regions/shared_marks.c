// Four threads read the same N elements again and again, each at its own pace; between two uses there are always N - 1 others.
// All of them sample: the mark that one thread leaves on an element must not go when another thread's interval ends, or an
// interval of two rounds or more is found.
// THREADS: 5
// LET: N = 4
// LET: K = 50000
// EXPECT: rar = K * N - N if w == 0 && r > 0
// EXPECT: number crd.index.median in loop look@sweep = N
// EXPECT: number crd.index.p99 in loop look@sweep = N
#include "team.h"

enum { N = 4, K = 50000, WORKERS = 4 };
static volatile int words[N];
static pthread_barrier_t begin;

NOINLINE void look(long rounds) {
    for (long k = 0; k < rounds * N; k++) /*@sweep*/
        USE(words[k % N]);
}

static void *read_all(void *unused) {
    pthread_barrier_wait(&begin);
    look(K);
    return unused;
}

int main(void) {
    pthread_barrier_init(&begin, NULL, WORKERS);
    for (int i = 0; i < N; i++)
        words[i] = i;
    team(WORKERS, read_all);
    return 0;
}
