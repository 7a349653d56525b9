// A child is not profiled and ends nobody's profile, by whatever door it leaves.
// stdout: children gave 1 2 3 4 5 6
// trace: fork_prepare
// trace: process_exit 1 0
// count: 1 process_exit 1
// count: 5 fork_child
// count: 2 fork_parent
// count: 0 exec_failed
// count: 1 thread_created
// linkage: archive lld preload static
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

pid_t _Fork(void);
static void *work(void *argument) {
    free(malloc(10));
    return argument;
}

static int status_of(pid_t child) {
    int status;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

static int cloned(void *argument) {
    return argument == &cloned ? 5 : 99;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, work, NULL);
    pthread_join(thread, NULL);
    int a, b, c, d, e, f;
    pid_t child = fork();
    if (!child) {
        pthread_create(&thread, NULL, work, NULL);
        pthread_join(thread, NULL);
        exit(1);
    }
    a = status_of(child);
    child = fork();
    if (!child) {
        execl("/bin/sh", "sh", "-c", "exit 2", NULL);
        _exit(99);
    }
    b = status_of(child);
    child = _Fork();
    if (!child) _exit(3);
    c = status_of(child);
    child = vfork();
    if (!child) {
        execl("/nonexistent", "x", NULL);
        _exit(4);
    }
    d = status_of(child);
    static char stack[1 << 14] __attribute__((aligned(16)));
    e = status_of(clone(cloned, stack + sizeof stack, SIGCHLD, (void *)&cloned));
    child = syscall(SYS_fork);
    if (!child) _exit(6);
    f = status_of(child);
    printf("children gave %d %d %d %d %d %d\n", a, b, c, d, e, f);
    return 0;
}
