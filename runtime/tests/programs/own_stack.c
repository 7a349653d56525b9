// A stack that the program chose: what was there before dies at the start, all of it at the end.
// trace: thread_started 1 1
// trace: thread_ended 1
// trace: clear_range 131072
// trace: thread_gone 1 1
#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static void *work(void *argument) { return argument; }

int main(void) {
    void *stack = aligned_alloc(4096, 128 << 10);
    memset(stack, 1, 128 << 10);
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    if (pthread_attr_setstack(&attributes, stack, 128 << 10)) return 1;
    pthread_t thread;
    if (pthread_create(&thread, &attributes, work, NULL)) return 2;
    return pthread_join(thread, NULL);
}
