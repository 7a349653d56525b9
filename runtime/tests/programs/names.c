// Names of threads, by all the ways to give them; one that is too long is refused.
// trace: thread_named 0 4
// trace: thread_named 0 15
// trace: thread_named 1 6
// count: 3 thread_named
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <sys/prctl.h>
#include <unistd.h>

static void *work(void *argument) {
    pause();
    return argument;
}

int main(void) {
    pthread_setname_np(pthread_self(), "main");
    prctl(PR_SET_NAME, "a name of more than fifteen bytes");
    pthread_t thread;
    pthread_create(&thread, NULL, work, NULL);
    pthread_setname_np(thread, "worker");
    if (pthread_setname_np(thread, "a name of more than fifteen bytes") != ERANGE) return 1;
    pthread_cancel(thread);
    return pthread_join(thread, NULL);
}
