// REFUSE: array-blocking
// CACHES: 4K,16K
// Threads go through a list of operations that main made, turn by turn. What a function reads of each is in the nearest cache
// no more when the next turn comes, but what order they have, the list says.
#include <pthread.h>
#include <stdlib.h>

#define T 4
#define OPERATIONS 2000
#define TURNS 40

struct operation {
    struct operation *next;
    double factor, offset;
    int kind, parts[9];
} *first;
double results[T * 8];
volatile int turns = TURNS;

static double apply(const struct operation *of, double to) {
    double result = of->factor * to;
    if (of->kind & 1)
        result += of->offset;
    else
        result -= of->parts[of->kind & 7];
    return result;
}

static void *work(void *p) {
    double sum = 0;
    for (int turn = 0; turn < turns; turn++)
        for (struct operation *of = first; of; of = of->next)
            sum = apply(of, sum);
    results[(long)p * 8] = sum;
    return p;
}

int main(void) {
    pthread_t threads[T];
    for (int i = 0; i < OPERATIONS; i++) {
        struct operation *of = calloc(1, sizeof *of);
        of->next = first;
        of->factor = 1. / (i + 1);
        of->kind = i;
        first = of;
    }
    for (long t = 0; t < T; t++)
        pthread_create(&threads[t], 0, work, (void *)t);
    for (int t = 0; t < T; t++)
        pthread_join(threads[t], 0);
    return results[0] > 1e9;
}
