// One-dimensional halo exchange: in each of I steps a worker writes its cells and reads the nearest H cells of both neighbours
// twice. The buffers alternate, so that one barrier for each step is enough.
// THREADS: 6
// LET: I = 20
// LET: H = 3
// EXPECT: raw = 2 * H * I if w > 0 && r > 0 && (r == w + 1 || w == r + 1)
// EXPECT: rar = 2 * H * I if w > 0 && r > 0 && (r == w + 1 || w == r + 1)
#include "team.h"

enum { WORKERS = 5, CELLS = 64, STEPS = 20, HALO = 3 };
static volatile double cells[2][WORKERS][CELLS];
static pthread_barrier_t all;

static NOINLINE void read_halo(volatile double *from) {
    for (int i = 0; i < HALO; i++) {
        double once = from[i], twice = from[i];
        __asm__ volatile("" ::"x"(once), "x"(twice) : "memory");
    }
}

static void *work(void *argument) {
    int self = (int)(intptr_t)argument - 1;
    for (int step = 0; step < STEPS; step++) {
        for (int i = 0; i < CELLS; i++)
            cells[step % 2][self][i] = step + i;
        pthread_barrier_wait(&all);
        if (self > 0)
            read_halo(&cells[step % 2][self - 1][CELLS - HALO]);
        if (self < WORKERS - 1)
            read_halo(&cells[step % 2][self + 1][0]);
    }
    return NULL;
}

int main(void) {
    pthread_barrier_init(&all, NULL, WORKERS);
    team(WORKERS, work);
    return 0;
}
