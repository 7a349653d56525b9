// 256 threads alive at once: all read one array that main wrote, and every one reads a word of every other one. Every entry of the
// matrices is exact.
// LEVELS: O2
// THREADS: 257
// LET: N = 64
// EXPECT: raw = N if w == 0 && r > 0; 1 if w > 0 && r > 0 && w != r
// EXPECT: rar = 2 * N if w == 0 && r > 0
#include "team.h"

enum { N = 64, WORKERS = 256 };
static volatile int table[N], word[WORKERS];
static pthread_barrier_t all;

static void *work(void *argument) {
    int self = (int)(intptr_t)argument - 1;
    word[self] = self;
    pthread_barrier_wait(&all);
    for (int sweep = 0; sweep < 3; sweep++)
        for (int i = 0; i < N; i++)
            USE(table[i]);
    for (int i = 0; i < WORKERS; i++)
        USE(word[i]);
    return NULL;
}

int main(void) {
    pthread_barrier_init(&all, NULL, WORKERS);
    for (int i = 0; i < N; i++)
        table[i] = i;
    team(WORKERS, work);
    return 0;
}
