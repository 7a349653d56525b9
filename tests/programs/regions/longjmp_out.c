// longjmp leaves the reading function in mid-loop; what is read afterwards belongs to the function that caught it.
// THREADS: 3
// STDOUT: caught
// LET: N = 100
// LET: M = 50
// EXPECT: raw in thrower = N if w == 1 && r == 2
// EXPECT: raw in look = M if w == 1 && r == 2
// EXPECT: raw = N + M if w == 1 && r == 2
#include "team.h"
#include <setjmp.h>

enum { N = 100, M = 50 };
static volatile int first[2 * N], second[M];
static jmp_buf back;

static void *write(void *unused) {
    for (int i = 0; i < 2 * N; i++)
        first[i] = i;
    for (int i = 0; i < M; i++)
        second[i] = i;
    return unused;
}

NOINLINE void thrower(void) {
    for (int i = 0; i < 2 * N; i++) {
        if (i == N)
            longjmp(back, 1);
        USE(first[i]);
    }
}

static void *look(void *unused) {
    if (setjmp(back) == 0)
        thrower();
    else
        puts("caught");
    for (int i = 0; i < M; i++)
        USE(second[i]);
    return unused;
}

int main(void) {
    one(write, NULL);
    one(look, NULL);
    return 0;
}
