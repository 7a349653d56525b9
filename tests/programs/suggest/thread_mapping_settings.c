// REFUSE: thread-mapping
// Five threads read what any of them wrote. They look at two settings of the first thread's in each step: these are reused
// most by far, but lie in the nearest cache of each, wherever it runs.
#include <pthread.h>

#define T 5
#define N 4000
#define STEPS 20

struct {
    volatile int limit, mask;
} settings;
int values[2][T * N];
pthread_barrier_t barrier;

static void *work(void *number) {
    long me = (long)number;
    unsigned random = (unsigned)me + 1;
    for (int step = 0; step < STEPS; step++) {
        for (int i = 0; i < N; i++) {
            random = random * 1664525u + 1013904223u;
            int value = values[step & 1][(random >> 8) % (T * N)];
            if (value > settings.limit)
                value = 0;
            values[~step & 1][i * T + me] = (value ^ settings.mask) + 1;
        }
        pthread_barrier_wait(&barrier);
    }
    return 0;
}

int main(void) {
    pthread_t threads[T];
    pthread_barrier_init(&barrier, 0, T);
    settings.limit = 1000;
    settings.mask = 1;
    for (long t = 0; t < T; t++)
        pthread_create(&threads[t], 0, work, (void *)t);
    for (int t = 0; t < T; t++)
        pthread_join(threads[t], 0);
    return values[0][7] == -1;
}
