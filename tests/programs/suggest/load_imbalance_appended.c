// SUGGEST: load-imbalance
// THREADTALK: memory,control
// Each thread has a block of iterations, which become longer and longer. That they take their places in a list from a
// shared counter does not make them share the work.
#include <pthread.h>
#include <stdatomic.h>
#define T 8
#define N 4000

static atomic_int length;
double list[N];

static double spin(int rounds) {
    double x = 1;
    for (int i = 0; i < rounds; i++)
        x = x * 0.5 + i;
    return x;
}

static void *block(void *p) {
    int first = (int)(long)p * (N / T);
    for (int i = first; i < first + N / T; i++) {
        double x = spin(i * 8);
        int place = atomic_fetch_add(&length, 1);
        if (place < N)
            list[place] = x;
    }
    return 0;
}

int main(void) {
    pthread_t threads[T];
    for (long t = 0; t < T; t++)
        pthread_create(&threads[t], 0, block, (void *)t);
    for (int t = 0; t < T; t++)
        pthread_join(threads[t], 0);
    return list[N - 1] == 0;
}
