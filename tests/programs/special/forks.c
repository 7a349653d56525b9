// Main hands over before and after a fork. The child hands over ten times on its own, starts threads, and leaves by the way
// that the argument names: return, _exit, abort, exec. With "clone" it begins on a stack of its own and returns from its
// function, with "syscall" the kernel is asked for it without the C library.
#define _GNU_SOURCE
#include "handover.h"
#include <sched.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static int ten_times(void *unused) {
    (void)unused;
    for (int k = 0; k < 10; k++)
        hand_over();
    return 7;
}

static pid_t divide(const char *way) {
    static char stack[1 << 18] __attribute__((aligned(16)));
    if (strcmp(way, "clone") == 0)
        return clone(ten_times, stack + sizeof stack, SIGCHLD, NULL);
    return strcmp(way, "syscall") == 0 ? syscall(SYS_fork) : fork();
}

int main(int count, char **arguments) {
    int status;
    if (count < 2)
        return 2;
    hand_over();
    fflush(stdout);
    pid_t child = divide(arguments[1]);
    if (child == 0) {
        ten_times(NULL);
        if (strcmp(arguments[1], "_exit") == 0)
            _exit(7);
        if (strcmp(arguments[1], "abort") == 0)
            abort();
        if (strcmp(arguments[1], "exec") == 0)
            execl("/bin/sh", "sh", "-c", "exit 7", (char *)NULL);
        return 7;
    }
    waitpid(child, &status, 0);
    hand_over();
    printf("%d\n", WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status));
    return 0;
}
