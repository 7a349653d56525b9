// From barrier to barrier: each thread counts in each phase what it alone counts there.
// flags: -DCOUNTERS=3
// linkage: archive static
// profile: instance barrier of 0 number 0 thread 1 team 2
// profile: instance barrier of 0 number 1 thread 1 team 2
// profile: instance barrier of 0 number 2 thread 2 team 2
// profile: instance barrier of 0 number 3 thread 2 team 2
// profile-count: 8 instance barrier
// profile-count: 0 instance barrier of 1
// profile: part barrier thread 1 id 0: 60
// profile: part barrier thread 2 id 0: 120
// profile: part barrier thread 1 id 1: 7
// profile: part barrier thread 2 id 1: 7
// profile: part join thread 2 id 0: 120
// profile: waited barrier by 1: 3
// profile: waited barrier by 2: 3
#include "counters.h"
#include <pthread.h>

static pthread_barrier_t barrier;

static void *work(void *argument) {
    for (long phase = 1; phase <= 3; phase++) {
        for (long i = 0; i < 10 * phase * (long)argument; i++)
            COUNT(0);
        pthread_barrier_wait(&barrier);
    }
    for (int i = 0; i < 7; i++)
        COUNT(1);
    return NULL;
}

int main(void) {
    pthread_t threads[2];
    pthread_barrier_init(&barrier, NULL, 2);
    for (long i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, work, (void *)(i + 1));
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
