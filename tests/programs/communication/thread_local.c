// Worker 2 writes into a variable of worker 1's own, which worker 1 reads by its name: twice each time, two members at once.
// THREADS: 3
// LEVELS: O0, O1, O2, O3, O2 -fPIC -ftls-model=initial-exec, O2 -fPIC -ftls-model=global-dynamic, O2 -fno-pie -no-pie
// LET: N = 100
// EXPECT: raw = 4 * N if w == 2 && r == 1; 2 if w == 1 && r == 2
// EXPECT: rar = 4 * N if w == 2 && r == 1
// EXPECT: raw lines given -> taken = 4 * N
#include "team.h"

enum { N = 100 };
struct pair {
    long first, second;
};
__thread struct pair mine;
static struct pair *volatile of_first;
static pthread_barrier_t barrier;

static NOINLINE long take(void) {
    return mine.first + mine.second; /*@taken*/
}

static NOINLINE void give(struct pair *to, long value) {
    *to = (struct pair){value, value}; /*@given*/
}

static void *work(void *argument) {
    struct pair *to = NULL;
    if ((intptr_t)argument == 1)
        of_first = &mine;
    pthread_barrier_wait(&barrier);
    if ((intptr_t)argument == 2)
        to = of_first;
    for (int i = 0; i < N; i++) {
        if (to != NULL)
            give(to, i);
        pthread_barrier_wait(&barrier);
        for (int again = 0; to == NULL && again < 2; again++) {
            if (take() != 2 * i)
                abort();
            FENCE();
        }
        pthread_barrier_wait(&barrier);
    }
    return NULL;
}

int main(void) {
    pthread_barrier_init(&barrier, NULL, 2);
    team(2, work);
    return 0;
}
