// A nest whose loops read the same elements: which line reads one first is a matter of the order in which they run, not
// of the order in which they are described.
//
// THREADS: 3
// LET: rounds = 17
// EXPECT: raw in own loop around@around = 1 if w == 1 && r == 2
// EXPECT: rar in own loop around@around = 0
// EXPECT: raw in own loop around@inside = 1 if w == 1 && r == 2
// EXPECT: rar in own loop around@inside = 2 * rounds - 1 if w == 1 && r == 2
// EXPECT: raw in own loop in_turn@first = 64 if w == 1 && r == 2
// EXPECT: rar in own loop in_turn@first = 64 * 2 if w == 1 && r == 2
// EXPECT: raw in own loop in_turn@second = 1 if w == 1 && r == 2
// EXPECT: rar in own loop in_turn@second = 63 + 64 * 2 if w == 1 && r == 2
// LEVELS: O0, O1, O2
#include "team.h"

static int elements[2048];
static pthread_barrier_t written;
// Not known to the compiler, so that no loop is unrolled as a whole.
static volatile long end = 34, three = 3;

// Of what is read, `own` is the reader's from its third element on.
static NOINLINE long around(int *own, long rounds) {
    long bits = 0;
    double sum = 0;
    for (int i = 0; i < 200; i++)
        own[3 + i] = i;
    for (long i = 0; i < rounds; i += 2) { /*@around*/
        bits ^= (long)own[2 + i] << 2;
        for (long j = 0; j < 40; j++) /*@inside*/
            sum += own[1 + j];
    }
    return bits + (long)sum;
}

// Two loops of as many rounds: their rounds do not take turns.
static NOINLINE double in_turn(int *others, long rounds) {
    double sum = 0;
    for (long i = 0; i < rounds; i++) {
        for (long j = 0; j < 64; j++) /*@first*/
            sum += others[j];
        for (long j = 0; j < 64; j++) /*@second*/
            sum += others[1 + j];
    }
    return sum;
}

static void *work(void *worker) {
    if ((intptr_t)worker == 1)
        for (int i = 0; i < 2048; i++)
            elements[i] = i;
    pthread_barrier_wait(&written);
    if ((intptr_t)worker == 2) {
        USE(around(elements + 64, end));
        USE((long)in_turn(elements + 1024, three));
    }
    return NULL;
}

int main(void) {
    pthread_barrier_init(&written, NULL, 2);
    team(2, work);
    return 0;
}
