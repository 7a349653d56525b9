// Main hands over before and after a fork. The child hands over ten times on its own, starts threads, and leaves by the way
// that the argument names: return, _exit, abort, exec.
#include "handover.h"
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int count, char **arguments) {
    int status;
    if (count < 2)
        return 2;
    hand_over();
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        for (int k = 0; k < 10; k++)
            hand_over();
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
