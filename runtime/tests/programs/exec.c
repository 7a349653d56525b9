// Each exec that fails is taken back, the one that works is the last.
// stdout: arguments arrive: 1 2 3 4 5 6 7 8 9
// status: 5
// trace: before_exec
// trace: exec_failed
// count: 10 before_exec
// count: 9 exec_failed
// count: 0 process_exit
// linkage: archive lld preload static static-pie
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

extern char **environ;

int main(int argc, char **argv) {
    char *none = "/nonexistent/program";
    int failures = 0;
#define FAILS(call) failures += (errno = 0, (call) == -1 && errno == ENOENT)
    FAILS(execl(none, none, "x", NULL));
    FAILS(execlp(none, none, "x", NULL));
    FAILS(execle(none, none, "x", NULL, environ));
    FAILS(execv(none, argv));
    FAILS(execvp(none, argv));
    FAILS(execvpe(none, argv, environ));
    FAILS(execve(none, argv, environ));
    FAILS(execveat(AT_FDCWD, none, argv, environ, 0));
    int file = open("/dev/null", O_RDONLY);
    failures += fexecve(file, argv, environ) == -1 && errno == EACCES;
    if (failures != 9) return failures;
    char *only[] = {"TEXT=arrive", NULL};
    execle("/bin/sh", "sh", "-c", "echo arguments $TEXT: $*; exit 5", "sh", "1", "2", "3", "4", "5", "6", "7", "8", "9", NULL,
           only);
    return 98;
}
