// Many threads one after the other and many at once: nobody's counts are lost, and levels above the highest count there. A
// thread that still runs at the end is counted, too.
// flags: -DCOUNTERS=1
// environment: THREADTALK_OPTIONS=quiet=1:levels=4
// linkage: archive
// profile: counted 9 level 2 id 0: 3
// profile: counted 2000 level 2 id 0: 3
// profile: counted 2100 level 4 id 0: 5
// profile: counted 2301 level 2 id 0: 11
// profile-count: 2301 counted
#include "counters.h"
#include <pthread.h>
#include <semaphore.h>
#include <unistd.h>

enum { ONE_BY_ONE = 2000, AT_ONCE = 300 };
static pthread_barrier_t all;
static sem_t counted;

static void *short_work(void *unused) {
    for (int i = 0; i < 3; i++)
        COUNT(0);
    return unused;
}

static void *long_work(void *unused) {
    pthread_barrier_wait(&all);
    for (int i = 0; i < 5; i++)
        COUNT(0);
    pthread_barrier_wait(&all);
    return unused;
}

static void *for_ever(void *unused) {
    for (int i = 0; i < 11; i++)
        COUNT(0);
    sem_post(&counted);
    pause();
    return unused;
}

int main(void) {
    static pthread_t threads[AT_ONCE];
    for (int i = 0; i < ONE_BY_ONE; i++) {
        pthread_create(&threads[0], NULL, short_work, NULL);
        pthread_join(threads[0], NULL);
    }
    pthread_barrier_init(&all, NULL, AT_ONCE);
    for (int i = 0; i < AT_ONCE; i++)
        pthread_create(&threads[i], NULL, long_work, NULL);
    for (int i = 0; i < AT_ONCE; i++)
        pthread_join(threads[i], NULL);
    sem_init(&counted, 0, 0);
    pthread_create(&threads[0], NULL, for_ever, NULL);
    sem_wait(&counted);
    return 0;
}
