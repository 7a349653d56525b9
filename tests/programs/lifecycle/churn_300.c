// 300 threads, each created and joined before the next: each reads what the one before wrote, and leaves its own.
// LEVELS: O2
// THREADS: 301
// RUNS: 1
// EXPECT: raw = 1 if w + 1 == r && r > 1; 1 if w == 300 && r == 0
// EXPECT: rar = 0
#include "team.h"

static volatile int word;

static void *pass_on(void *unused) {
    word = word + 1;
    return unused;
}

int main(void) {
    for (int k = 0; k < 300; k++)
        one(pass_on, NULL);
    return word != 300;
}
