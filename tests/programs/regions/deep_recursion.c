// A recursive function is one region, however deep; an event deep down belongs to it as one at the top does.
// THREADS: 3
// STDOUT: 20000
// LET: N = 20000
// EXPECT: raw in descend = N if w == 1 && r == 2
// EXPECT: rar = 0
#include "team.h"

enum { N = 20000 };
static volatile int words[N];

static void *fill(void *unused) {
    for (int i = 0; i < N; i++)
        words[i] = 1;
    return unused;
}

NOINLINE long descend(long depth) {
    if (depth == N)
        return 0;
    long here = words[depth];
    long below = descend(depth + 1);
    FENCE();
    return here + below;
}

static void *start(void *unused) {
    printf("%ld\n", descend(0));
    return unused;
}

int main(void) {
    one(fill, NULL);
    one(start, NULL);
    return 0;
}
