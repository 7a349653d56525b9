// Two threads exchange cells without locks, until there is a third: it comes while the second one is reading, and reads
// the same elements at the same time, some hundred thousand of them.
// LEVELS: O0, O2
// THREADS: 3
// RUNS: 8
// LET: N = 300000
// EXPECT: raw = N if w == 0 && r > 0
// EXPECT: rar = 0
#include "team.h"

enum { N = 300000 };
static volatile int elements[N];

// From both ends: they meet, whoever is faster.
static void *read(void *argument) {
    for (long i = 0; i < N; i++)
        USE(elements[(intptr_t)argument == 1 ? i : N - 1 - i]);
    return NULL;
}

int main(void) {
    for (long i = 0; i < N; i++)
        elements[i] = 1;
    team(2, read);
    return 0;
}
