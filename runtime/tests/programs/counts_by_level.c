// Each count stands at the number of threads that there were: what the parent counts before, between and after the creations,
// and every block of the children.
// flags: -DCOUNTERS=4
// linkage: archive static
// profile: counted 0 level 1 id 0: 10
// profile: counted 0 level 3 id 1: 20
// profile: counted 0 level 1 id 2: 30
// profile: counted 1 level 3 id 3: 100
// profile: counted 2 level 3 id 3: 101
// profile-count: 5 counted
// profile: waited join by 0: 2
// profile: instance join of 0 number 0 thread 1
// profile: instance join of 0 number 0 thread 2
// profile: instance join of 0 number 0 thread 0 primary team 2
// profile: part join thread 1 id 3: 100
// profile: part join thread 2 id 3: 101
// profile: part join thread 0 id 1: 20
// profile-count: 3 part
#include "counters.h"
#include <pthread.h>
#include <semaphore.h>

static sem_t begin, counted, leave;

static void *work(void *argument) {
    sem_wait(&begin);
    for (long i = 0; i < (long)argument; i++)
        COUNT(3);
    sem_post(&counted);
    sem_wait(&leave);
    return NULL;
}

static void let_both(sem_t *sem) {
    sem_post(sem);
    sem_post(sem);
}

int main(void) {
    pthread_t threads[2];
    sem_init(&begin, 0, 0);
    sem_init(&counted, 0, 0);
    sem_init(&leave, 0, 0);
    for (int i = 0; i < 10; i++)
        COUNT(0);
    for (long i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, work, (void *)(100 + i));
    for (int i = 0; i < 20; i++)
        COUNT(1);
    let_both(&begin);
    sem_wait(&counted);
    sem_wait(&counted);
    let_both(&leave);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < 30; i++)
        COUNT(2);
    return 0;
}
