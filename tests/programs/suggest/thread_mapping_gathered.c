// REFUSE: thread-mapping
// Main reads once what each of four others left, most of it from two of them: it has no other partner, they have none but it,
// and what is read once is fetched anyhow.
#include <pthread.h>

#define T 4
#define N 40000

int values[T][N];
long total;
pthread_barrier_t written;

static void *fill(void *p) {
    long me = (long)p;
    for (int i = 0; i < (me < 2 ? N : N / 16); i++)
        values[me][i] = i;
    pthread_barrier_wait(&written);
    pthread_barrier_wait(&written);
    return p;
}

int main(void) {
    pthread_t threads[T];
    pthread_barrier_init(&written, 0, T + 1);
    for (long t = 0; t < T; t++)
        pthread_create(&threads[t], 0, fill, (void *)t);
    pthread_barrier_wait(&written);
    for (int t = 0; t < T; t++)
        for (int i = 0; i < (t < 2 ? N : N / 16); i++)
            total += values[t][i];
    pthread_barrier_wait(&written);
    for (int t = 0; t < T; t++)
        pthread_join(threads[t], 0);
    return total == 0;
}
