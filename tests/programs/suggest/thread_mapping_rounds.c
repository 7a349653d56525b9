// REFUSE: thread-mapping
// Each round has four threads of its own, and each of them reads what all four wrote: two of three others have two thirds of
// what a thread reads, however many there were in other rounds.
#include <pthread.h>

#define T 4
#define ROUNDS 4
#define STEPS 5
#define N 800

double blocks[T][N], sums[T][8];
pthread_barrier_t barrier;

static void *work(void *number) {
    long me = (long)number;
    for (int step = 0; step < STEPS; step++) {
        for (int i = 0; i < N; i++)
            blocks[me][i] += (double)(me + i + step);
        pthread_barrier_wait(&barrier);
        double sum = 0;
        for (int t = 0; t < T; t++)
            for (int i = 0; i < N; i++)
                sum += blocks[t][i];
        sums[me][0] = sum;
        pthread_barrier_wait(&barrier);
    }
    return 0;
}

int main(void) {
    pthread_t threads[T];
    pthread_barrier_init(&barrier, 0, T);
    for (int round = 0; round < ROUNDS; round++) {
        for (long t = 0; t < T; t++)
            pthread_create(&threads[t], 0, work, (void *)t);
        for (int t = 0; t < T; t++)
            pthread_join(threads[t], 0);
    }
    return sums[0][0] == 1;
}
