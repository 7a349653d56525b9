// A variable of a block dies with the block. clang marks that from -O1 on; at -O0 the variable lives until its function returns.
// LEVELS: O1, O2, O3
// THREADS: 3
// LET: N = 64
// EXPECT: raw = N if w == 0 && r == 1
// EXPECT: rar = 0
#include "team.h"

enum { N = 64 };

static void *look(void *variable) {
    volatile int *words = variable;
    for (int i = 0; i < N; i++)
        USE(words[i]);
    return NULL;
}

int main(void) {
    for (volatile int turn = 0; turn < 2; turn++) {
        volatile int words[N];
        if (turn == 0)
            for (int i = 0; i < N; i++)
                words[i] = i;
        one(look, (void *)words);
    }
    return 0;
}
