// One pointer leads to two arrays by turns: each has what is read of it, whichever the compiler sees first.
// THREADS: 3
// LEVELS: O0, O1, O2
// LET: N = 20000
// EXPECT: raw object stack left = N
// EXPECT: raw object stack right = N / 2
// EXPECT: raw object pointer = 0
// EXPECT: raw sum >= N + N / 2
#include "team.h"

enum { N = 20000 };
struct pair {
    volatile int *a, *b;
};

static void *work(void *argument) {
    struct pair *both = argument;
    for (int k = 0; k < 2; k++) {
        volatile int *from = k ? both->b : both->a;
        for (int i = 0; i < N / (2 + 2 * k); i++)
            USE(from[i]);
    }
    return NULL;
}

int main(void) {
    volatile int left[N], right[N];
    struct pair both = {left, right};
    for (int i = 0; i < N; i++)
        left[i] = i;
    for (int i = 0; i < N; i++)
        right[i] = -i;
    one(work, &both);
    one(work, &both);
    return 0;
}
