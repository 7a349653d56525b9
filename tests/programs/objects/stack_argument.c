// An array on main's stack goes to threads as their argument: it keeps its name.
// THREADS: 3
// LEVELS: O0, O1, O2
// LET: N = 20000
// EXPECT: raw object stack table = 2 * N
// EXPECT: raw object pointer = 0
// EXPECT: raw sum = 2 * N
#include "team.h"

enum { N = 20000 };

static void *work(void *argument) {
    volatile int *row = argument;
    for (int i = 0; i < N; i++)
        USE(row[i]);
    return NULL;
}

int main(void) {
    int table[N];
    for (int i = 0; i < N; i++)
        table[i] = i;
    FENCE();
    one(work, table);
    one(work, table);
    return 0;
}
