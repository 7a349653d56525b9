// main leaves by pthread_exit, another thread joins it, and the process ends with its last thread.
// stdout: main gave 9
// trace: thread_ended 0
// trace: thread_gone 0 1
// trace: thread_ended 1
// trace: process_exit 1 0
// count: 1 process_exit
#include <pthread.h>
#include <stdio.h>

static pthread_t first;
static void *work(void *argument) {
    void *result;
    pthread_join(first, &result);
    printf("main gave %ld\n", (long)result);
    return argument;
}

int main(void) {
    pthread_t thread;
    first = pthread_self();
    pthread_create(&thread, NULL, work, NULL);
    pthread_detach(thread);
    pthread_exit((void *)9);
}
