// Main writes, and workers 1 and 2 go through it again and again. Between rounds one of them, or worker 3, changes some:
// here and there, in a row, or by a library function. What a worker has known to be reuse must not hide that, nor that
// memory has ended: what is there next, nobody has written.
// THREADS: 4
// OPTIONS: crd=off
// LET: N = 40000
// LET: K = 400
// LET: M = 12000
// LET: PASSES = 7
// EXPECT: raw = 2 if w == 3 && r == 0; 0 if r == 0 || r == 3; 2 * N if w == 0; 4 * K + 2 * M + 4 if w == 3; 6 * K if w != r
// LET: MAIN = 2 * PASSES * (9 * N - 36 * K) - 2 * N
// LET: THIRD = 2 * K * (9 * PASSES - 2) + 2 * M * (PASSES - 1)
// EXPECT: rar = 0 if r == 0 || r == 3; MAIN if w == 0; THIRD if w == 3; 2 * K * (18 * PASSES - 3 * w * PASSES - 3) if w != r
#include "team.h"
#include <string.h>

enum { N = 40000, K = 400, M = 12000, ROUNDS = 9, PASSES = 7 };
static int64_t data[N];
static int64_t *block;
static pthread_barrier_t all;

NOINLINE static void fill(int64_t *words, long n) {
    for (long i = 0; i < n; i++)
        words[i] = i;
    FENCE();
}

NOINLINE static void read_all(const int64_t *words, long n) {
    for (int pass = 0; pass < PASSES; pass++) {
        int64_t sum = 0;
        for (long i = 0; i < n; i++)
            sum += words[i];
        USE(sum);
    }
}

NOINLINE static void change(int round) {
    int64_t *row = data + 2000 * round + round;
    if (round % 9 < 3)
        for (int k = 0; k < K; k++)
            row[4 * k] = round;
    else if (round % 9 < 6)
        for (int k = 0; k < K; k++)
            row[k] = k - round;
    else
        memset(row, round, K * sizeof *row);
    FENCE();
}

static void *work(void *argument) {
    int self = (int)(intptr_t)argument;
    for (int round = 0; round < ROUNDS; round++) {
        if (self < 3)
            read_all(data, N);
        pthread_barrier_wait(&all);
        if (self == 1 + round % 3)
            change(round);
        pthread_barrier_wait(&all);
    }
    for (int life = 0; life < 2; life++) {
        if (self == 3) {
            free(block);
            block = calloc(M, sizeof *block);
            if (life == 0)
                fill(block, M);
        }
        pthread_barrier_wait(&all);
        if (self < 3)
            read_all(block, M);
        pthread_barrier_wait(&all);
    }
    return NULL;
}

int main(void) {
    pthread_barrier_init(&all, NULL, 3);
    fill(data, N);
    team(3, work);
    free(block);
    return 0;
}
