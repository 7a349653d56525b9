// A function with the attribute is not looked at: neither its reads nor its writes exist for the tool.
// LEVELS: O0, O2
// THREADS: 4
// LET: N = 100
// EXPECT: raw = N if w == 1 && r == 3
// EXPECT: rar = 0
#include "team.h"
#include "threadtalk.h"

enum { N = 100 };
static volatile int words[N];

static void *give(void *unused) {
    for (int i = 0; i < N; i++)
        words[i] = i;
    return unused;
}

THREADTALK_IGNORE static void *touch(void *unused) {
    for (int i = 0; i < N; i++)
        words[i] = words[i] + 1;
    return unused;
}

static void *take(void *unused) {
    for (int i = 0; i < N; i++)
        USE(words[i]);
    return unused;
}

int main(void) {
    one(give, NULL);
    one(touch, NULL);
    one(take, NULL);
    return 0;
}
