// Blocks go round: in each turn a worker fills one and reads it, row by row, then reads the one that it filled in the turn
// before, which its neighbour has filled since. What a loop has seen to be a thread's own must not outlast a barrier.
// THREADS: 4
// LET: N = 20 * 256
// LET: I = 9
// EXPECT: raw = 2 * N * I if w > 0 && r == w % 3 + 1
// EXPECT: rar = 2 * N * I if w > 0 && r == w % 3 + 1
#include "team.h"

enum { WORKERS = 3, ROWS = 20, COLUMNS = 256, TURNS = 9 };
static volatile double blocks[WORKERS][ROWS][COLUMNS];
static pthread_barrier_t all;

static NOINLINE void fill(volatile double (*block)[COLUMNS], double value) {
    for (long i = 0; i < ROWS; i++)
        for (long j = 0; j < COLUMNS; j++)
            block[i][j] = value;
}

static NOINLINE double sum(volatile double (*block)[COLUMNS]) {
    double sum = 0;
    for (long i = 0; i < ROWS; i++)
        for (long j = 0; j < COLUMNS; j++)
            sum += block[i][j];
    return sum;
}

static void *work(void *argument) {
    long self = (intptr_t)argument - 1;
    for (long turn = 0; turn < TURNS; turn++) {
        long mine = (self + turn) % WORKERS, before = (self + turn + WORKERS - 1) % WORKERS;
        fill(blocks[mine], (double)turn);
        double seen = sum(blocks[mine]);
        pthread_barrier_wait(&all);
        seen += sum(blocks[before]);
        seen += sum(blocks[before]);
        __asm__ volatile("" ::"x"(seen));
        pthread_barrier_wait(&all);
    }
    return NULL;
}

int main(void) {
    pthread_barrier_init(&all, NULL, WORKERS);
    team(WORKERS, work);
    return 0;
}
