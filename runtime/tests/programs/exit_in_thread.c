// A thread ends the process while others run.
// status: 12
// count: 0 thread_ended
// trace: process_exit 1 12
// count: 1 process_exit
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

static void *work(void *argument) {
    if (argument) exit(12);
    for (;;) pause();
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, work, NULL);
    pthread_create(&thread, NULL, work, &thread);
    for (;;) pause();
}
