// Three teams, one after the other, read what the first thread wrote, each worker another half of it in another order. Sets of readers
// from several teams leave out who has ended: what a read is does not depend on that.
// THREADS: 61
// LET: N = 512
// EXPECT: raw = N / 2 if w == 0 && r > 0
// EXPECT: rar = N / 2 if w == 0 && r > 0
#include "team.h"

enum { N = 512, WORKERS = 20 };
static volatile int32_t values[N];

static NOINLINE void look(intptr_t worker) {
    // An odd stride meets N / 2 different elements.
    int64_t stride = 2 * worker + 1;
    for (int round = 0; round < 2; round++)
        for (int64_t k = 0; k < N / 2; k++)
            USE(values[(worker * 31 + k * stride) % N]);
}

static void *first(void *argument) {
    look((intptr_t)argument);
    return NULL;
}

static void *second(void *argument) {
    look((intptr_t)argument + WORKERS);
    return NULL;
}

static void *third(void *argument) {
    look((intptr_t)argument + 2 * WORKERS);
    return NULL;
}

int main(void) {
    for (int i = 0; i < N; i++)
        values[i] = i;
    team(WORKERS, first);
    team(WORKERS, second);
    team(WORKERS, third);
    return 0;
}
