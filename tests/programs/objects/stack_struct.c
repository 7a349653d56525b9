// Structures on main's stack, one for each thread: their members are theirs.
// THREADS: 4
// LEVELS: O0, O1, O2
// LET: N = 3000
// EXPECT: raw object stack tasks = 3 * (N + 2)
// EXPECT: raw object pointer = 0
// EXPECT: raw sum = 3 * (N + 2)
#include "team.h"

enum { N = 3000 };
struct task {
    volatile int first, last, steps[N];
};

static void *work(void *argument) {
    struct task *mine = argument;
    int first = mine->first, last = mine->last;
    for (int i = first; i < last; i++)
        USE(mine->steps[i]);
    return NULL;
}

int main(void) {
    struct task tasks[3];
    for (int k = 0; k < 3; k++) {
        tasks[k].first = 0;
        tasks[k].last = N;
        for (int i = 0; i < N; i++)
            tasks[k].steps[i] = i * k;
    }
    for (int k = 0; k < 3; k++)
        one(work, &tasks[k]);
    return 0;
}
