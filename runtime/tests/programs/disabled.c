// Switched off, the runtime only hands on.
// environment: THREADTALK_DISABLE=1
// stdout: 5
// status: 8
// count: 1 process_start
// count: 0 thread_created
// count: 0 clear_range
// count: 0 process_exit
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static void *work(void *argument) {
    free(realloc(malloc(10), 1000));
    return argument;
}

int main(void) {
    pthread_t thread;
    void *result;
    pthread_create(&thread, NULL, work, (void *)5);
    pthread_join(thread, &result);
    printf("%ld\n", (long)result);
    return 8;
}
