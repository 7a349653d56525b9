// 10 000 threads, created and joined eight at a time; each reads a word of main and leaves one that main reads.
#include "team.h"

#ifndef ROUNDS
#define ROUNDS 1250
#endif
enum { LIVE = 8 };
static volatile int seed, words[LIVE + 1];

static void *work(void *argument) {
    int self = (int)(intptr_t)argument;
    words[self] = seed + self;
    return NULL;
}

int main(void) {
    seed = 1;
    int sum = 0;
    for (int round = 0; round < ROUNDS; round++) {
        team(LIVE, work);
        for (int k = 1; k <= LIVE; k++)
            sum += words[k];
    }
    printf("%d\n", sum);
    return 0;
}
