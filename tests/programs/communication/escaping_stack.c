// A stack variable whose address goes to another thread is shared like any memory, and dies when its function returns: the next
// call's variable in the same place is cold.
// THREADS: 3
// STDOUT: same
// LET: N = 64
// EXPECT: raw = N if w == 0 && r == 1
// EXPECT: rar = 0
#include "team.h"

enum { N = 64 };
static uintptr_t place[2];

static void *look(void *variable) {
    volatile int *words = variable;
    for (int i = 0; i < N; i++)
        USE(words[i]);
    return NULL;
}

// One function for both, so that the variable lies in the same place.
static NOINLINE void scope(int fill) {
    volatile int words[N];
    if (fill)
        for (int i = 0; i < N; i++)
            words[i] = i;
    one(look, (void *)words);
    place[fill] = (uintptr_t)words;
}

int main(void) {
    volatile int yes = 1, no = 0;
    scope(yes);
    scope(no);
    puts(place[0] == place[1] ? "same" : "other");
    return 0;
}
