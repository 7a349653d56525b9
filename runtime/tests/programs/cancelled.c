// Cancelled while it sleeps, while it joins, and asynchronously: the cleanup handlers run, the ends are seen.
// stdout: cleanup 1
// stdout: cleanup 2
// stdout: cleanup 3
// stdout: cleanup 4
// count: 5 thread_started
// count: 5 thread_ended
// count: 5 thread_gone
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <unistd.h>

static sem_t ready; /* the handler is in place */

static void cleanup(void *which) {
    printf("cleanup %ld\n", (long)which);
    fflush(stdout);
}

static void *sleeper(void *which) {
    pthread_cleanup_push(cleanup, which);
    sem_post(&ready);
    for (;;) pause();
    pthread_cleanup_pop(0);
}

static void *joiner(void *target) {
    pthread_cleanup_push(cleanup, (void *)2);
    sem_post(&ready);
    pthread_join(*(pthread_t *)target, NULL);
    pthread_cleanup_pop(0);
    return NULL;
}

static volatile int spinning;
static void *spinner(void *which) {
    pthread_cleanup_push(cleanup, which);
    pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
    for (;;) spinning = 1;
    pthread_cleanup_pop(0);
}

static void *leaver(void *which) {
    pthread_cleanup_push(cleanup, which);
    pthread_exit(which);
    pthread_cleanup_pop(0);
}

static int ends_with(pthread_t thread, void *expected) {
    void *result;
    return pthread_join(thread, &result) == 0 && result == expected;
}

int main(void) {
    pthread_t a, b;
    sem_init(&ready, 0, 0);
    pthread_create(&a, NULL, sleeper, (void *)1);
    sem_wait(&ready);
    pthread_cancel(a);
    if (!ends_with(a, PTHREAD_CANCELED)) return 1;
    static pthread_t target;
    pthread_create(&target, NULL, sleeper, (void *)3);
    pthread_create(&b, NULL, joiner, &target);
    sem_wait(&ready);
    sem_wait(&ready);
    usleep(20000); /* so that it most likely waits already; otherwise it ends when it begins to */
    pthread_cancel(b);
    if (!ends_with(b, PTHREAD_CANCELED)) return 2;
    pthread_cancel(target);
    if (!ends_with(target, PTHREAD_CANCELED)) return 3;
    pthread_create(&a, NULL, leaver, (void *)4);
    if (!ends_with(a, (void *)4)) return 4;
    pthread_create(&a, NULL, spinner, (void *)5);
    while (!spinning) usleep(1000);
    freopen("/dev/null", "w", stdout);
    pthread_cancel(a);
    return !ends_with(a, PTHREAD_CANCELED);
}
