// REFUSE: loop-fusion
// Each thread goes through its block from end to end, and then picks elements of all of it in no order: the second loop
// cannot begin before the first one's end, and would have nothing at hand if it did.
#include "team.h"

#define T 2
#define N (1 << 18)

static unsigned data[T * N];
static struct {
    _Alignas(64) unsigned sum;
} sums[T];

static void *work(void *argument) {
    int me = (intptr_t)argument - 1;
    const unsigned *own = data + me * N;
    unsigned sum = 0;
    for (int i = 0; i < N; i++)
        sum = (sum ^ own[i]) * 16777619u;
    unsigned at = sum | 1;
    for (int i = 0; i < N; i++) {
        at = at * 1664525 + 1013904223;
        sum += own[at % N];
    }
    sums[me].sum = sum;
    return NULL;
}

int main(void) {
    for (int i = 0; i < T * N; i++)
        data[i] = i;
    FENCE();
    team(T, work);
    return sums[0].sum == 1;
}
