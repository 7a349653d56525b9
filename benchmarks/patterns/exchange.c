/* Threads that hand each other single things. */
#include "pattern.h"
#include <stdatomic.h>

#if defined(QUEUE)
/* One queue under a mutex: thread 0 puts, the others take. */
enum { PLACES = 64 };
static struct { pthread_mutex_t mutex; pthread_cond_t changed; long items[PLACES]; long put, taken; } queue;
static void prepare(void) {
    pthread_mutex_init(&queue.mutex, NULL);
    pthread_cond_init(&queue.changed, NULL);
}
static double work(int me) {
    long total = n * rounds / 64;
    double sum = 0;
    if (threads == 1) return 0;
    for (;;) {
        pthread_mutex_lock(&queue.mutex);
        while (me == 0 ? queue.put < total && queue.put - queue.taken == PLACES
                       : queue.taken < total && queue.put == queue.taken)
            pthread_cond_wait(&queue.changed, &queue.mutex);
        int done = me == 0 ? queue.put == total : queue.taken == total;
        if (!done && me == 0) {
            queue.items[queue.put % PLACES] = queue.put;
            queue.put++;
        } else if (!done) {
            sum += queue.items[queue.taken++ % PLACES];
        }
        pthread_cond_broadcast(&queue.changed);
        pthread_mutex_unlock(&queue.mutex);
        if (done) return sum;
        for (volatile int i = 0; i < 100; i++) {}
    }
}
#elif defined(BINS)
/* Bins with a lock each; all threads add to all. */
enum { BINS_TOTAL = 1024 };
static struct { pthread_spinlock_t lock; long count; double sum; } bins[BINS_TOTAL];
static void prepare(void) { for (int i = 0; i < BINS_TOTAL; i++) pthread_spin_init(&bins[i].lock, 0); }
static double work(int me) {
    for (long i = 0; i < n * rounds / threads; i++) {
        int bin = scattered(i * threads + me) % BINS_TOTAL;
        pthread_spin_lock(&bins[bin].lock);
        bins[bin].count++;
        bins[bin].sum += 1;
        pthread_spin_unlock(&bins[bin].lock);
    }
    meet();
    double total = 0;
    for (int i = me; i < BINS_TOTAL; i += threads) total += bins[i].count;
    return total;
}
#elif defined(ATOMICS)
/* A shared counter hands out work in small portions. */
static atomic_long at;
static double *values;
static void prepare(void) { values = zeroed(n * sizeof(double)); }
static double work(int me) {
    for (long round = 0; round < rounds; round++) {
        for (long i; (i = atomic_fetch_add(&at, 16)) < n;)
            for (long j = i; j < i + 16 && j < n; j++) values[j] += j;
        meet();
        if (me == 0) at = 0;
        meet();
    }
    double total = 0;
    for (long i = me; i < n; i += threads) total += values[i];
    return total;
}
#elif defined(FALSE_SHARING)
/* Counters of different threads in the same line. */
static long counts[MOST_THREADS];
static int *values;
static void prepare(void) { values = zeroed(n * sizeof(int)); }
static double work(int me) {
    for (long round = 0; round < rounds; round++)
        for (long i = me; i < n; i += threads) {
            values[i] += i & 7;
            if (values[i] & 1) ((volatile long *)counts)[me]++;
        }
    return counts[me];
}
#elif defined(SHORT)
/* Forty numbers from one to the next between two barriers. */
static double *rows[MOST_THREADS];
static void prepare(void) { for (int i = 0; i < threads; i++) rows[i] = zeroed(40 * sizeof(double)); }
static double work(int me) {
    double total = 0;
    for (long round = 0; round < rounds; round++) {
        for (int k = 0; k < 40; k++) rows[me][k] = round + k;
        meet();
        for (int again = 0; again < 20; again++)
            for (int k = 0; k < 40; k++) total += rows[next(me)][k] * again;
        meet();
    }
    return total;
}
#endif
