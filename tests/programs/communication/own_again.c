// What worker 1 wrote at four lines, and worker 2 has read, is still worker 1's own when it reads it again; for
// worker 3, which gets the control block of one of them, it is not.
// THREADS: 4
// LET: N = 200
// LET: ROUNDS = 7
// EXPECT: raw = 8 * N if w == 1 && r == 2; 8 * N if w == 1 && r == 3
// EXPECT: rar = 8 * N * (ROUNDS - 1) if w == 1 && r == 3
#include "team.h"

enum { N = 200, ROUNDS = 7 };
static volatile double values[N][4];
static pthread_barrier_t written, read;

static NOINLINE double sum(int i) {
    return values[i][0] + values[i][1] * values[i][2] +
           values[i][3];
}

static void *work(void *number) {
    if ((intptr_t)number == 1)
        for (int i = 0; i < N; i++) {
            values[i][0] = i;
            values[i][1] = 1;
            values[i][2] = 2;
            values[i][3] = 3;
        }
    pthread_barrier_wait(&written);
    if ((intptr_t)number == 2)
        for (int i = 0; i < N; i++)
            USE((long)sum(i));
    pthread_barrier_wait(&read);
    if ((intptr_t)number == 1)
        for (int round = 0; round < ROUNDS; round++)
            for (int i = 0; i < N; i++)
                USE((long)sum(i));
    return NULL;
}

static void *last(void *unused) {
    for (int round = 0; round < ROUNDS; round++)
        for (int i = 0; i < N; i++)
            USE((long)sum(i));
    return unused;
}

int main(void) {
    pthread_barrier_init(&written, NULL, 2);
    pthread_barrier_init(&read, NULL, 2);
    team(2, work);
    one(last, NULL);
    return 0;
}
