// Detached threads exist until they end, however they were detached; one still runs when the process ends.
// count: 3 thread_gone
// count: 3 thread_ended
// count: 4 thread_started
// trace: process_exit 1 7
// status: 7
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <unistd.h>
#include <sys/syscall.h>

static volatile int ids[4];
static sem_t go;

static void *work(void *slot) {
    if (slot == &ids[2]) pthread_detach(pthread_self());
    if (slot == &ids[1]) sem_wait(&go);
    *(volatile int *)slot = (int)syscall(SYS_gettid);
    if (slot == &ids[3])
        for (;;) free(malloc(10000));
    return NULL;
}

static void await_end(volatile int *tid) {
    while (!*tid || !syscall(SYS_tgkill, getpid(), *tid, 0)) usleep(1000);
}

int main(void) {
    pthread_t thread;
    pthread_attr_t detached;
    sem_init(&go, 0, 0);
    pthread_attr_init(&detached);
    pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
    pthread_create(&thread, &detached, work, (void *)&ids[0]);
    pthread_create(&thread, NULL, work, (void *)&ids[1]);
    pthread_detach(thread);
    sem_post(&go);
    pthread_create(&thread, NULL, work, (void *)&ids[2]);
    for (int i = 0; i < 3; i++) await_end(&ids[i]);
    pthread_create(&thread, &detached, work, (void *)&ids[3]);
    while (!ids[3]) usleep(1000);
    exit(7);
}
