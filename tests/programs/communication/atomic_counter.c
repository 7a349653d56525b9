// Threads one after the other add to a counter: each addition reads what the thread before wrote, then writes. A second counter
// of 8 bytes is two elements. Main loads both at the end.
// THREADS: 6
// STDOUT: 5 5
// EXPECT: raw = 3 if w > 0 && r == (w + 1) % 6
// EXPECT: sync_raw = 3 if w > 0 && r == (w + 1) % 6
// EXPECT: rar = 0
// EXPECT: sync_rar = 0
#include "team.h"
#include <stdatomic.h>

static atomic_int counter;
static atomic_long wide;

static void *add(void *unused) {
    atomic_fetch_add(&counter, 1);
    atomic_fetch_add_explicit(&wide, 1, memory_order_relaxed);
    return unused;
}

int main(void) {
    for (int k = 0; k < 5; k++)
        one(add, NULL);
    printf("%d %ld\n", atomic_load(&counter), atomic_load(&wide));
    return 0;
}
