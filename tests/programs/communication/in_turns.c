// Workers 1 to 3 write the elements of a row in turns that repeat after 21 of them only, and all four read it from end to end: twice, and once
// more after the writers have written every fifth of theirs anew. Neighbours are in many states, since readers come by at different times.
// THREADS: 5
// LET: N = 14000
// LET: ANEW = 2800
// LEVELS: O0, O2, O3, O3 -mavx2
// EXPECT: raw = N + ANEW if 1 <= w && w <= 3 && r > 0 && r != w
// EXPECT: rar = N + N - ANEW if 1 <= w && w <= 3 && r > 0 && r != w
// EXPECT: raw lines written -> summed = 9 * N
// EXPECT: rar lines written -> summed = 9 * (2 * N - ANEW)
// EXPECT: raw lines anew -> summed = 9 * ANEW
// EXPECT: rar lines anew -> summed = 0
#include "team.h"

enum { WORKERS = 4, LENGTH = 42000, TURNS = 21 };
static unsigned row[LENGTH];
static pthread_barrier_t all;

// Seven elements of 21 for each worker.
static int is_of(long i, long worker) {
    static const char turns[TURNS + 1] = "122313211323312132213";
    return turns[i % TURNS] - '0' == worker;
}

static NOINLINE unsigned sum(const unsigned *from, long length) {
    unsigned result = 0;
    for (long i = 0; i < length; i++)
        result += from[i]; /*@summed*/
    return result;
}

static void *work(void *argument) {
    long me = (intptr_t)argument;
    for (long i = 0; i < LENGTH; i++)
        if (is_of(i, me))
            row[i] = (unsigned)i; /*@written*/
    pthread_barrier_wait(&all);
    unsigned total = sum(row, LENGTH);
    FENCE();
    total += sum(row, LENGTH);
    pthread_barrier_wait(&all);
    for (long i = 0; i < LENGTH; i += 5)
        if (is_of(i, me))
            row[i] = (unsigned)i + total; /*@anew*/
    pthread_barrier_wait(&all);
    total += sum(row, LENGTH);
    USE(total);
    return NULL;
}

int main(void) {
    pthread_barrier_init(&all, NULL, WORKERS);
    team(WORKERS, work);
    return 0;
}
