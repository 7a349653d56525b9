// Atomics of other kinds: floating point (a loop of compare-and-swap), pointers, flags, fences, and 16 bytes at once.
// FLAGS: -mcx16
// THREADS: 4
// STDOUT: 3.5 1
// EXPECT: sync_raw in add_float = 2 if w > 0 && r == w + 1
// EXPECT: raw in load_pair = 4 if w == 3 && r == 0
// EXPECT: raw in main = 2 + 1 if w == 3 && r == 0
#include "team.h"
#include <stdatomic.h>

static _Atomic double sum = 0.5;
static atomic_flag flag = ATOMIC_FLAG_INIT;
static __int128 pair;

NOINLINE void add_float(void) { sum += 1; }

static void *work(void *unused) {
    add_float();
    atomic_flag_test_and_set(&flag);
    atomic_thread_fence(memory_order_seq_cst);
    __sync_val_compare_and_swap(&pair, pair, pair + 1);
    return unused;
}

NOINLINE long load_pair(void) { return (long)pair; }

int main(void) {
    for (int k = 0; k < 3; k++)
        one(work, NULL);
    USE(load_pair());
    printf("%.1f %d\n", sum, (int)atomic_flag_test_and_set(&flag));
    return 0;
}
