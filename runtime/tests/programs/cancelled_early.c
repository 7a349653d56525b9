// Cancelled before it runs: the runtime's own system calls are no place to end.
// stdout: started
// trace: thread_started 1 1
// trace: thread_ended 1
// trace: thread_gone 1 1
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <unistd.h>

static void *work(void *argument) {
    static const char text[] = "started\n";
    int old;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &old);
    write(1, text, sizeof text - 1);
    pthread_setcancelstate(old, NULL);
    for (;;) pause();
    return argument;
}

int main(void) {
    pthread_t thread;
    void *result;
    pthread_create(&thread, NULL, work, NULL);
    pthread_cancel(thread);
    return pthread_join(thread, &result) || result != PTHREAD_CANCELED;
}
