// Every worker writes a block for every other and reads the blocks meant for it, the transpose of a Fourier transform.
// THREADS: 9
// LET: N = 40
// EXPECT: raw = 2 * N if w > 0 && r > 0 && w != r
// EXPECT: rar = 0
#include "team.h"

enum { WORKERS = 8, N = 40 };
static volatile int64_t block[WORKERS][WORKERS][N];
static pthread_barrier_t all;

static void *work(void *argument) {
    int self = (int)(intptr_t)argument - 1;
    for (int to = 0; to < WORKERS; to++)
        for (int i = 0; i < N; i++)
            block[self][to][i] = to + i;
    pthread_barrier_wait(&all);
    for (int from = 0; from < WORKERS; from++)
        for (int i = 0; i < N; i++)
            USE(block[from][self][i]);
    return NULL;
}

int main(void) {
    pthread_barrier_init(&all, NULL, WORKERS);
    team(WORKERS, work);
    return 0;
}
