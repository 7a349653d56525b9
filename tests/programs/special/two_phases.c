// Four workers in two phases, parted by barriers: first each reads its left neighbour's buffer (ROUNDS times what was just
// written), then all read worker 1's.
#include "../team.h"

enum { WORKERS = 4, N = 1000, ROUNDS = 3 };
static volatile int buffer[WORKERS + 1][N];
static pthread_barrier_t all;

static void write_own(int self, int round) {
    for (int i = 0; i < N; i++)
        buffer[self][i] = i + round;
}

static void read_from(int other) {
    for (int i = 0; i < N; i++)
        USE(buffer[other][i]);
}

static void *work(void *argument) {
    int self = (int)(intptr_t)argument, left = (self + 2) % WORKERS + 1;
    for (int round = 0; round < ROUNDS; round++) {
        write_own(self, round);
        pthread_barrier_wait(&all);
        read_from(left);
        pthread_barrier_wait(&all);
    }
    for (int round = 0; round < ROUNDS; round++) {
        if (self == 1)
            write_own(self, round);
        pthread_barrier_wait(&all);
        if (self != 1)
            read_from(1);
        pthread_barrier_wait(&all);
    }
    return NULL;
}

int main(void) {
    pthread_barrier_init(&all, NULL, WORKERS);
    team(WORKERS, work);
    return 0;
}
