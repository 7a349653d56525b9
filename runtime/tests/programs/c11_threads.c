// C11's threads do not pass through the POSIX names.
// stdout: 7
// trace: thread_created 1
// trace: thread_ended 1
// trace: thread_gone 1 1
// trace: thread_created 2
// trace: thread_gone 2 1
// linkage: archive lld preload static
#include <stdio.h>
#include <sys/syscall.h>
#include <threads.h>
#include <unistd.h>

static int work(void *argument) { return *(int *)argument; }
static int leave(void *argument) {
    *(volatile int *)argument = (int)syscall(SYS_gettid);
    thrd_exit(3);
}

int main(void) {
    thrd_t thread;
    int value = 7, result = 0;
    if (thrd_create(&thread, work, &value) != thrd_success || thrd_join(thread, &result) != thrd_success) return 1;
    printf("%d\n", result);
    if (thrd_create(&thread, leave, &value) != thrd_success || thrd_detach(thread) != thrd_success) return 2;
    volatile int *tid = &value;
    while (*tid == 7 || !syscall(SYS_tgkill, getpid(), *tid, 0)) thrd_yield();
    return 0;
}
