// Worker 1 goes through its memory again and again; in between it lends it to worker 2, which changes some of it: here and there,
// in a row, by a library function, or in pieces of a few values by another. What worker 1 has known to be its own must not hide what comes back.
// THREADS: 3
// LET: K = 400
// LET: ROUNDS = 12
// LET: PASSES = 4
// EXPECT: raw = 2 * K * ROUNDS if w == 2 && r == 1
// EXPECT: rar = 2 * K * ROUNDS * (PASSES - 1) if w == 2 && r == 1
#include "team.h"
#include <string.h>

enum { N = 40000, K = 400, FEW = 4, ROUNDS = 12, PASSES = 4 };
static int64_t data[N];
static int place[K];
static volatile size_t piece = FEW * sizeof *data;
static pthread_barrier_t both;

NOINLINE static void write_all(int64_t value) {
    for (int i = 0; i < N; i++)
        data[i] = value + i;
    FENCE();
}

NOINLINE static void read_all(void) {
    for (int pass = 0; pass < PASSES; pass++) {
        int64_t sum = 0;
        for (int i = 0; i < N; i++)
            sum += data[i];
        USE(sum);
    }
}

NOINLINE static void change(int round) {
    int64_t *row = data + 2000 * round + round, values[FEW] = {round, round, round, round};
    if (round % 4 == 0)
        for (int k = 0; k < K; k++)
            data[place[k]] = round;
    else if (round % 4 == 1)
        for (int k = 0; k < K; k++)
            row[k] = k - round;
    else if (round % 4 == 2)
        memset(row, round, K * sizeof *row);
    else
        for (int k = 0; k < K; k += FEW)
            memcpy(data + place[k], values, piece);
    FENCE();
}

static void *work(void *argument) {
    int self = (int)(intptr_t)argument;
    if (self == 2)
        for (int k = 0; k < K; k++)
            place[k] = 97 * k;
    for (int round = 0; round < ROUNDS; round++) {
        if (self == 1) {
            write_all(round);
            read_all();
        }
        pthread_barrier_wait(&both);
        if (self == 2)
            change(round);
        pthread_barrier_wait(&both);
        if (self == 1)
            read_all();
    }
    return NULL;
}

int main(void) {
    pthread_barrier_init(&both, NULL, 2);
    team(2, work);
    return 0;
}
