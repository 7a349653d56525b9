// C11's threads do not pass through the POSIX names.
// stdout: 7
// trace: thread_created 1
// trace: thread_ended 1
// trace: thread_gone 1 1
// trace: thread_created 2
// trace: thread_gone 2 1
// linkage: archive lld preload static
#include <stdio.h>
#include <threads.h>

static int work(void *argument) { return *(int *)argument; }
static int leave(void *argument) {
    *(volatile int *)argument = 0;
    thrd_exit(3);
}

int main(void) {
    thrd_t thread;
    int value = 7, result = 0;
    if (thrd_create(&thread, work, &value) != thrd_success || thrd_join(thread, &result) != thrd_success) return 1;
    printf("%d\n", result);
    if (thrd_create(&thread, leave, &value) != thrd_success || thrd_detach(thread) != thrd_success) return 2;
    while (*(volatile int *)&value) thrd_yield();
    thrd_sleep(&(struct timespec){.tv_nsec = 50000000}, NULL);
    return 0;
}
