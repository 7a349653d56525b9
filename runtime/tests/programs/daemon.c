// The child of daemon() is the program: it goes on with the profile.
// outlives: its parent
// trace: fork_child 1
// trace: thread_created 1
// trace: thread_gone 1 1
// trace: process_exit 1 0
// count: 1 process_exit
// count: 1 process_start
#define _DEFAULT_SOURCE
#include <pthread.h>
#include <unistd.h>

static void *work(void *argument) { return argument; }

int main(void) {
    if (daemon(1, 1)) return 1;
    pthread_t thread;
    return pthread_create(&thread, NULL, work, NULL) || pthread_join(thread, NULL);
}
