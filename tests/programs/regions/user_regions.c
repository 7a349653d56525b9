// Regions that the program names itself, nested, with the function and loop regions unchanged beside them; a pause in which
// nothing counts but writes are remembered; names of threads.
// LEVELS: O0, O2
// THREADS: 3
// LET: N = 100
// EXPECT: raw in user outer = 2 * N if w == 1 && r == 2
// EXPECT: raw in user inner = N if w == 1 && r == 2
// EXPECT: rar in user later = N if w == 1 && r == 2
// EXPECT: raw in take = 3 * N if w == 1 && r == 2
// EXPECT: rar in take = N if w == 1 && r == 2
#include "team.h"
#include "threadtalk.h"

enum { N = 100 };
static volatile int first[N], second[N], third[N], unseen[N];

static void *give(void *unused) {
    threadtalk_thread_name("giver");
    threadtalk_stop();
    for (int i = 0; i < N; i++)
        third[i] = i;
    threadtalk_start();
    for (int i = 0; i < N; i++)
        unseen[i] = second[i] = first[i] = i;
    return unused;
}

NOINLINE void take(volatile int *words) {
    for (int i = 0; i < N; i++)
        USE(words[i]);
}

static void *taker(void *unused) {
    threadtalk_thread_name("taker");
    {
        THREADTALK_REGION("outer");
        take(first);
        threadtalk_region_begin("inner");
        take(second);
        threadtalk_region_end("inner");
    }
    threadtalk_region_begin("later");
    take(first);
    threadtalk_region_end("later");
    take(third);
    threadtalk_stop();
    take(unseen);
    threadtalk_start();
    return unused;
}

int main(void) {
    one(give, NULL);
    one(taker, NULL);
    return 0;
}
