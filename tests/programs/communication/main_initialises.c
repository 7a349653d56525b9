// What main writes while it is alone is communication like any other, marked as serial; alone again after a join, it writes
// serially again.
// THREADS: 4
// LET: N = 500
// EXPECT: raw = N if w == 0 && r == 1; N if w == 0 && r == 2; N if w == 1 && r == 2; 2 * N if w == 0 && r == 3
// EXPECT: serial_raw = N if w == 0 && r == 1; N if w == 0 && r == 2; N if w == 0 && r == 3
// EXPECT: rar = 0
#include "team.h"

enum { N = 500 };
static volatile int early[N], between[N], during[N], parallel[N];
static pthread_barrier_t turn;

static NOINLINE void fill(volatile int *words) {
    for (int i = 0; i < N; i++)
        words[i] = i;
}

static NOINLINE void look(volatile int *words) {
    for (int i = 0; i < N; i++)
        USE(words[i]);
}

static void *first(void *unused) {
    look(early);
    fill(during);
    return unused;
}

static void *second(void *unused) {
    look(early);
    look(during);
    return unused;
}

static void *third(void *unused) {
    look(between);
    pthread_barrier_wait(&turn);
    look(parallel);
    return unused;
}

int main(void) {
    pthread_barrier_init(&turn, NULL, 2);
    fill(early);
    one(first, NULL);
    one(second, NULL);
    fill(between);
    pthread_t thread;
    pthread_create(&thread, NULL, third, NULL);
    fill(parallel);
    pthread_barrier_wait(&turn);
    pthread_join(thread, NULL);
    return 0;
}
