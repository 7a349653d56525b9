// Starts other programs in every way that does not go through fork, while a worker reads.
#include "handover.h"
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

int main(void) {
    char *command[] = {"sh", "-c", "exit 3", NULL};
    pid_t child;
    int status, sum = 0;
    char line[16] = "";
    one(give, NULL);
    posix_spawn(&child, "/bin/sh", NULL, NULL, command, environ);
    waitpid(child, &status, 0);
    sum += WEXITSTATUS(status);
    sum += WEXITSTATUS(system("exit 4"));
    FILE *pipe = popen("echo from the pipe", "r");
    if (fgets(line, sizeof line, pipe) == NULL)
        return 1;
    pclose(pipe);
    child = vfork();
    if (child == 0)
        _exit(5);
    waitpid(child, &status, 0);
    sum += WEXITSTATUS(status);
    one(take, NULL);
    printf("%d %s\n", sum, line);
    return 0;
}
