// Worker 1 reads its own values again and again after worker 2 has read them: no events. Worker 3, which begins when they have ended and
// may be given what the runtime kept for one of them, reads the same values at the same line: all of them are new to it.
// THREADS: 4
// LET: N = 64
// EXPECT: raw = N if w == 1 && (r == 2 || r == 3)
// EXPECT: rar = N if w == 1 && (r == 2 || r == 3)
#include "team.h"

enum { LENGTH = 64, ROUNDS = 20 };
static volatile int values[LENGTH];
static pthread_barrier_t written, read_by_both;

static NOINLINE void look(int rounds) {
    for (int round = 0; round < rounds; round++)
        for (int i = 0; i < LENGTH; i++)
            USE(values[(i * 7) % LENGTH]);
}

static void *work(void *argument) {
    intptr_t self = (intptr_t)argument;
    if (self == 1)
        for (int i = 0; i < LENGTH; i++)
            values[i] = i;
    pthread_barrier_wait(&written);
    if (self == 2)
        look(2);
    pthread_barrier_wait(&read_by_both);
    if (self == 1)
        look(ROUNDS);
    return NULL;
}

static void *later(void *unused) {
    look(2);
    return unused;
}

int main(void) {
    pthread_barrier_init(&written, NULL, 2);
    pthread_barrier_init(&read_by_both, NULL, 2);
    team(2, work);
    one(later, NULL);
    return 0;
}
