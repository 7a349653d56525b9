// A creation that fails leaves the caller alone again.
// stdout: refused
// trace: thread_created 1
// trace: thread_create_failed 1 1
// trace: thread_created 2
// trace: thread_gone 2 1
// count: 1 thread_started
#include <pthread.h>
#include <stdio.h>
#include <sys/resource.h>

static void *work(void *argument) { return argument; }

int main(void) {
    pthread_attr_t huge;
    pthread_attr_init(&huge);
    pthread_attr_setstacksize(&huge, (size_t)1 << 46);
    pthread_t thread;
    if (pthread_create(&thread, &huge, work, NULL)) puts("refused");
    return pthread_create(&thread, NULL, work, NULL) || pthread_join(thread, NULL);
}
