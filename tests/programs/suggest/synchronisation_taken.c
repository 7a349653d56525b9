// SUGGEST: synchronisation
// SAYS: take several pieces at a time
// Threads take pieces of work that are hardly longer than taking one is. They sleep in between, so that each piece is
// another one's than the one before on any machine.
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>
#define T 4
#define N 4000

static atomic_int next;
static pthread_barrier_t start;
double squares[N];

static void *take(void *p) {
    pthread_barrier_wait(&start);
    for (int i; (i = atomic_fetch_add(&next, 1)) < N;) {
        squares[i] = (double)i * i;
        usleep(1);
    }
    return p;
}

int main(void) {
    pthread_t threads[T];
    pthread_barrier_init(&start, 0, T);
    for (int t = 0; t < T; t++)
        pthread_create(&threads[t], 0, take, 0);
    for (int t = 0; t < T; t++)
        pthread_join(threads[t], 0);
    return squares[N - 1] == 0;
}
