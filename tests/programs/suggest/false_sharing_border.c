// REFUSE: false-sharing
// THREADTALK: memory,control
// Each thread takes the first element of its block out again and again, and puts it elsewhere in the block. Where two blocks
// meet in a cache line the first element is written each time, but what the other thread writes there is one in 100000.
#include "team.h"

#define T 4
#define N 100004
#define TIMES 400000

static unsigned data[T * N];

static void *work(void *argument) {
    unsigned *own = data + ((intptr_t)argument - 1) * N;
    unsigned at = 1;
    for (int i = 0; i < TIMES; i++) {
        at = (at + 7919) % N;
        unsigned first = own[0];
        own[0] = own[at] + i;
        own[at] = first;
    }
    return NULL;
}

int main(void) {
    team(T, work);
    return data[0] == 1;
}
