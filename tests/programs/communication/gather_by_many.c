// More threads than a name of a state can list read each another half of an array, at places all over it: nearly every element has
// another set of readers, so that the array's values are opened. In every second round only each other element is written again.
// THREADS: 26
// LET: N = 4096
// LET: R = 12
// EXPECT: raw = R / 2 * (N / 2 + N / 4) * 2 if w == 1 && r > 1
// EXPECT: rar = R * 3 * N / 2 * 2 - R / 2 * (N / 2 + N / 4) * 2 if w == 1 && r > 1
// EXPECT: raw lines all -> gathered = R / 2 * N / 2 * 2 * 24
// EXPECT: raw lines even -> gathered = R / 2 * N / 4 * 2 * 24
#include "team.h"

enum { N = 4096, ROUNDS = 12, PASSES = 3, READERS = 24 };
static volatile double values[N];
static pthread_barrier_t all;

static void write_values(int round) {
    if (round % 2 == 0)
        for (int i = 0; i < N; i++)
            values[i] = i; /*@all*/
    else
        for (int i = 0; i < N; i += 2)
            values[i] = -i; /*@even*/
}

// An odd stride meets N / 2 different elements, half of them even.
static NOINLINE void gather(int64_t reader) {
    int64_t stride = 2 * (reader * 97 + 31) + 1;
    for (int pass = 0; pass < PASSES; pass++)
        for (int64_t k = 0; k < N / 2; k++)
            USE(values[(reader * 131 + k * stride) % N]); /*@gathered*/
}

static void *work(void *argument) {
    intptr_t worker = (intptr_t)argument;
    for (int round = 0; round < ROUNDS; round++) {
        if (worker == 1)
            write_values(round);
        pthread_barrier_wait(&all);
        if (worker > 1)
            gather(worker);
        pthread_barrier_wait(&all);
    }
    return NULL;
}

int main(void) {
    pthread_barrier_init(&all, NULL, READERS + 1);
    team(READERS + 1, work);
    return 0;
}
