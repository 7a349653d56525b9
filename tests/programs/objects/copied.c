// What is copied into an array is no longer the array that it comes from; whose it is now cannot be said where only a pointer
// is known.
// THREADS: 2
// LEVELS: O0, O1, O2
// LET: N = 20000
// EXPECT: raw object stack table = 0
// EXPECT: raw object pointer = N
#include "team.h"
#include <string.h>

enum { N = 20000 };

static void *work(void *argument) {
    volatile int **rows = argument;
    for (int i = 0; i < N / 2; i++)
        USE(rows[0][i]);
    for (int i = 0; i < N / 2; i++)
        USE(rows[1][i]);
    return NULL;
}

int main(void) {
    int table[N], first[N], second[N];
    void *rows[2] = {first, second};
    for (int i = 0; i < N; i++)
        table[i] = i;
    FENCE();
    memcpy(first, table, sizeof table);
    memcpy(second, table, sizeof table);
    one(work, rows);
    USE(table[0]);
    return 0;
}
