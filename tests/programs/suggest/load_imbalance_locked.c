// REFUSE: load-imbalance
// THREADTALK: memory,control
// Iterations become longer and longer, and threads take the next ten under a lock.
#include <pthread.h>
#define T 8
#define N 4000
#define AT_ONCE 10

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int next;
double sinks[N];

static double spin(int rounds) {
    double x = 1;
    for (int i = 0; i < rounds; i++)
        x = x * 0.5 + i;
    return x;
}

static void *take(void *p) {
    for (;;) {
        pthread_mutex_lock(&lock);
        int begin = next;
        next += AT_ONCE;
        pthread_mutex_unlock(&lock);
        if (begin >= N)
            return p;
        for (int i = begin; i < begin + AT_ONCE; i++)
            sinks[i] += spin(i * 3);
    }
}

int main(void) {
    pthread_t threads[T];
    for (int t = 0; t < T; t++)
        pthread_create(&threads[t], 0, take, 0);
    for (int t = 0; t < T; t++)
        pthread_join(threads[t], 0);
    return sinks[N - 1] == 0;
}
