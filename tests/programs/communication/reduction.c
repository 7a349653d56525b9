// Main fills a table, each worker reads its share and leaves a partial sum, main adds them up.
// THREADS: 5
// STDOUT: 79800
// LET: N = 100
// EXPECT: raw = N if w == 0 && r > 0; 2 if w > 0 && r == 0
// EXPECT: rar = 0
// EXPECT: serial_raw = N if w == 0 && r > 0
#include "team.h"

enum { WORKERS = 4, N = 100 };
static volatile int table[WORKERS * N];
static volatile long partial[WORKERS];

static void *work(void *argument) {
    int self = (int)(intptr_t)argument - 1;
    long sum = 0;
    for (int i = 0; i < N; i++)
        sum += table[self * N + i];
    partial[self] = sum;
    return NULL;
}

int main(void) {
    for (int i = 0; i < WORKERS * N; i++)
        table[i] = i;
    team(WORKERS, work);
    long sum = 0;
    for (int i = 0; i < WORKERS; i++)
        sum += partial[i];
    printf("%ld\n", sum);
    return 0;
}
