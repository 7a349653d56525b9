// A team of four in two phases: first each reads its left neighbour's buffer between two barriers of one region, then all
// read the primary's in regions of their own, which end with a barrier. They read one after the other: each sleeps until
// those before it have most likely read, so that only the number of the meeting tells that no phase lies between.
#include "../team.h"
#include <omp.h>
#include <unistd.h>

enum { TEAM = 4, N = 1000, ROUNDS = 3, TURN = 3000 };
static volatile int buffer[TEAM][N];

static void write_own(int self, int round) {
    for (int i = 0; i < N; i++)
        buffer[self][i] = i + round;
}

static void read_in_turn(int self, int other) {
    usleep((unsigned)(self * TURN));
    for (int i = 0; i < N; i++)
        USE(buffer[other][i]);
}

int main(void) {
#pragma omp parallel num_threads(TEAM)
    {
        int self = omp_get_thread_num();
        for (int round = 0; round < ROUNDS; round++) {
            write_own(self, round);
#pragma omp barrier
            read_in_turn(self, (self + TEAM - 1) % TEAM);
#pragma omp barrier
        }
    }
    for (int round = 0; round < ROUNDS; round++) {
        write_own(0, round);
#pragma omp parallel num_threads(TEAM)
        {
            if (omp_get_thread_num() > 0)
                read_in_turn(omp_get_thread_num(), 0);
        }
    }
    return 0;
}
