// The joins with a limit count only when they join.
// trace: thread_ended 1
// trace: thread_gone 1 1
// trace: thread_gone 2 1
// trace: thread_gone 3 1
// count: 3 thread_gone
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <time.h>

static sem_t go;
static void *work(void *argument) {
    sem_wait(&go);
    return argument;
}

int main(void) {
    sem_init(&go, 0, 0);
    pthread_t thread;
    struct timespec past = {1, 0}, future;
    clock_gettime(CLOCK_REALTIME, &future);
    future.tv_sec += 100;
    pthread_create(&thread, NULL, work, NULL);
    if (pthread_tryjoin_np(thread, NULL) != EBUSY) return 1;
    if (pthread_timedjoin_np(thread, NULL, &past) != ETIMEDOUT) return 2;
    sem_post(&go);
    if (pthread_timedjoin_np(thread, NULL, &future)) return 3;
    pthread_create(&thread, NULL, work, NULL);
    sem_post(&go);
    if (pthread_clockjoin_np(thread, NULL, CLOCK_REALTIME, &future)) return 4;
    pthread_create(&thread, NULL, work, NULL);
    sem_post(&go);
    while (pthread_tryjoin_np(thread, NULL)) nanosleep(&(struct timespec){0, 1000000}, NULL);
    return 0;
}
