// A pipeline of four stages with one slot between neighbours. Stage 1 makes items of W ints, each later stage reads the slot of
// the one before and writes its own; the last writes results that main reads.
// THREADS: 5
// STDOUT: 1225
// LET: ITEMS = 50
// LET: W = 16
// EXPECT: raw = ITEMS * W if w > 0 && r == w + 1; ITEMS if w == 4 && r == 0
// EXPECT: rar = 0
#include "team.h"
#include <semaphore.h>

enum { STAGES = 4, ITEMS = 50, WORDS = 16 };
static volatile int slot[STAGES][WORDS], result[ITEMS];
static sem_t filled[STAGES], emptied[STAGES];

static void *stage(void *argument) {
    int self = (int)(intptr_t)argument - 1;
    for (int item = 0; item < ITEMS; item++) {
        int value = item;
        if (self > 0) {
            sem_wait(&filled[self - 1]);
            for (int i = 0; i < WORDS; i++)
                value = slot[self - 1][i];
            sem_post(&emptied[self - 1]);
        }
        if (self == STAGES - 1) {
            result[item] = value - (WORDS - 1) * self;
            continue;
        }
        sem_wait(&emptied[self]);
        for (int i = 0; i < WORDS; i++)
            slot[self][i] = value + i;
        sem_post(&filled[self]);
    }
    return NULL;
}

int main(void) {
    for (int s = 0; s < STAGES; s++) {
        sem_init(&filled[s], 0, 0);
        sem_init(&emptied[s], 0, 1);
    }
    team(STAGES, stage);
    int sum = 0;
    for (int item = 0; item < ITEMS; item++)
        sum += result[item];
    printf("%d\n", sum);
    return 0;
}
