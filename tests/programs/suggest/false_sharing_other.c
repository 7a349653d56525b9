// REFUSE: false-sharing
// THREADTALK: memory,control
// A worker counts down in a cache line in which another thread writes once, when it is done: the line moves once, however
// often the counter is written.
#include <pthread.h>

#define T 2
#define N 100000

struct worker {
    _Alignas(64) pthread_t thread;
    volatile long left, is_over;
};

struct worker workers[T];

__attribute__((noinline)) static void *run(void *p) {
    struct worker *w = p;
    for (int i = 0; i < N; i++)
        w->left--;
    return p;
}

__attribute__((noinline)) static void join(struct worker *w) {
    pthread_join(w->thread, 0);
    w->is_over = 1;
}

int main(void) {
    for (int t = 0; t < T; t++)
        pthread_create(&workers[t].thread, 0, run, &workers[t]);
    for (int t = 0; t < T; t++)
        join(&workers[t]);
    return workers[0].left == 1;
}
