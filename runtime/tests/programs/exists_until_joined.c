// A thread that has ended but was not joined still exists; with two of them, only the second join leaves one alone.
// linkage: archive lld preload static static-pie
// trace: thread_ended 1
// trace: thread_created 2
// trace: thread_ended 2
// trace: thread_gone 2 0
// trace: thread_gone 1 1
// count: 2 thread_gone
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <unistd.h>
#include <sys/syscall.h>

static void *work(void *tid) {
    *(volatile int *)tid = (int)syscall(SYS_gettid);
    return NULL;
}

/* Until the kernel does not know the thread any more. */
static void await_end(volatile int *tid) {
    while (!*tid || !syscall(SYS_tgkill, getpid(), *tid, 0)) usleep(1000);
}

int main(void) {
    static volatile int first_id, second_id;
    pthread_t first, second;
    pthread_create(&first, NULL, work, (void *)&first_id);
    await_end(&first_id);
    pthread_create(&second, NULL, work, (void *)&second_id);
    await_end(&second_id);
    return pthread_join(second, NULL) || pthread_join(first, NULL);
}
