// On a machine with more than 256 processors the C library moves a block of its own in each new thread, before the thread has
// begun. A filter of system calls lets this machine look like one (where it may be set; elsewhere nothing is tested).
// THREADS: 3
// LET: N = 100
// EXPECT: raw = N if w == 0 && r != 0
// EXPECT: rar = 0
#include "team.h"
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

enum { N = 100, ROOM = 128 };
static volatile int words[N];

static void *look(void *unused) {
    for (int i = 0; i < N; i++)
        USE(words[i]);
    return unused;
}

int main(void) {
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_sched_getaffinity, 0, 3),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[1])),
        BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, ROOM, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EINVAL),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof code / sizeof *code, code};
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
    for (int i = 0; i < N; i++)
        words[i] = i;
    one(look, NULL);
    one(look, NULL);
    return 0;
}
