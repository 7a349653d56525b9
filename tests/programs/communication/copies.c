// Workers 1 and 2 write an array by turns, in runs of 7 and of 700 values. All three workers copy it twice as a whole and once in
// pieces of 7; worker 3 reads the other two's copies, before and after they have copied once more to the same place.
// THREADS: 4
// LET: N = 5600
// EXPECT: raw = N / 2 + 2 * N if (w == 1 || w == 2) && r == 3; N / 2 if (w == 1 && r == 2) || (w == 2 && r == 1)
// EXPECT: rar = N if (w == 1 || w == 2) && r == 3; N + N / 2 if (w == 1 && r == 2) || (w == 2 && r == 1)
// EXPECT: raw lines given -> copied = 2 * N
// EXPECT: rar lines given -> pieces = 2 * N
#include "team.h"
#include <string.h>

enum { WORKERS = 3, N = 5600, SHORT = 7, LONG = 700 };
static int values[N], copies[WORKERS + 1][N];
static volatile size_t whole = sizeof values, piece = SHORT * sizeof *values;
static pthread_barrier_t all;

static NOINLINE void give(long self) {
    for (long i = 0; i < N; i++)
        if (i / (i < N / 2 ? SHORT : LONG) % 2 == self - 1)
            values[i] = (int)(i * self); /*@given*/
}

static NOINLINE void copy(int *to) {
    memcpy(to, values, whole); /*@copied*/
}

static NOINLINE void copy_pieces(int *to) {
    for (long i = 0; i < N; i += SHORT)
        memcpy(to + i, values + i, piece); /*@pieces*/
}

static NOINLINE long sum(const int *from) {
    long result = 0;
    for (long i = 0; i < N; i++)
        result += from[i];
    return result;
}

static void *work(void *argument) {
    long self = (intptr_t)argument;
    int *own = copies[self];
    if (self <= 2)
        give(self);
    for (int round = 0; round < 2; round++) {
        pthread_barrier_wait(&all);
        if (self <= 2 || round == 0)
            copy(own);
        if (round == 0) {
            copy(own);
            copy_pieces(own);
        }
        pthread_barrier_wait(&all);
        if (self == 3)
            USE(sum(copies[1]) + sum(copies[2]));
    }
    return NULL;
}

int main(void) {
    pthread_barrier_init(&all, NULL, WORKERS);
    team(WORKERS, work);
    return 0;
}
