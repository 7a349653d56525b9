// A thread's stack and its thread-local variables die with it. The C library gives the same stack to the next thread, which finds
// nothing of the one before.
// THREADS: 4
// STDOUT: same
// LET: N = 100
// EXPECT: raw = 2 * N + 4 if w == 1 && r == 2; 2 if r == 0 && (w == 1 || w == 3)
// EXPECT: rar = 0
#include "team.h"

enum { N = 100 };
static __thread volatile int local[N];
static pthread_barrier_t filled, seen;
static volatile int *volatile stack_of_first, *volatile local_of_first;
static uintptr_t place[2];

static NOINLINE void look(volatile int *words) {
    for (int i = 0; i < N; i++)
        USE(words[i]);
}

static void *reader(void *unused) {
    pthread_barrier_wait(&filled);
    look(stack_of_first);
    look(local_of_first);
    pthread_barrier_wait(&seen);
    return unused;
}

static void *body(void *argument) {
    volatile int words[N];
    place[(intptr_t)argument] = (uintptr_t)words;
    if (argument == NULL) {
        for (int i = 0; i < N; i++) {
            words[i] = i;
            local[i] = i;
        }
        stack_of_first = words;
        local_of_first = local;
        pthread_barrier_wait(&filled);
        pthread_barrier_wait(&seen);
    } else {
        look(words);
        look(local);
    }
    return NULL;
}

int main(void) {
    pthread_t first, second;
    pthread_barrier_init(&filled, NULL, 2);
    pthread_barrier_init(&seen, NULL, 2);
    pthread_create(&first, NULL, body, NULL);
    pthread_create(&second, NULL, reader, NULL);
    // The stack that was given back last is handed out first.
    pthread_join(second, NULL);
    pthread_join(first, NULL);
    one(body, (void *)1);
    puts(place[0] == place[1] ? "same" : "other");
    return 0;
}
