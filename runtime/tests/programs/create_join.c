// The life of a thread, in the order that the core is told.
// stdout: 5
// trace: process_start 1
// trace: thread_created 1
// trace: thread_started 1 1
// trace: thread_ended 1
// trace: clear_range 8388608
// trace: thread_gone 1 1
// trace: process_exit 1 43
// count: 1 thread_created
// count: 1 process_exit
// status: 43
#include <pthread.h>
#include <stdio.h>

static void *work(void *argument) { return argument; }

int main(void) {
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 8 << 20);
    pthread_t thread;
    void *result;
    pthread_create(&thread, &attributes, work, (void *)5);
    pthread_join(thread, &result);
    printf("%ld\n", (long)result);
    return 43;
}
