// A compare-and-swap that fails only reads; one that succeeds reads and writes. An exchange does both, a store only writes. Plain
// reads of the same element are data, not synchronisation.
// THREADS: 5
// STDOUT: 7
// EXPECT: raw = 1 if w == 1 && r == 2; 1 if w == 1 && r == 3; 1 if w == 3 && r == 4; 1 if w == 4 && r == 0
// EXPECT: rar = 1 if w == 1 && r == 2; 1 if w == 4 && r == 0
// EXPECT: sync_raw = 1 if w == 1 && r == 2; 1 if w == 1 && r == 3; 1 if w == 3 && r == 4
// EXPECT: sync_rar = 1 if w == 1 && r == 2
#include "team.h"
#include <stdatomic.h>

static atomic_int cell;

static void *store(void *unused) {
    atomic_store(&cell, 5);
    return unused;
}

static void *fail_twice(void *unused) {
    for (volatile int k = 0; k < 2; k++) {
        int wrong = 3;
        if (atomic_compare_exchange_strong(&cell, &wrong, 9))
            abort();
    }
    return unused;
}

static void *succeed(void *unused) {
    int right = 5;
    if (!atomic_compare_exchange_strong(&cell, &right, 6))
        abort();
    return unused;
}

static void *exchange(void *unused) {
    if (atomic_exchange(&cell, 7) != 6)
        abort();
    return unused;
}

int main(void) {
    one(store, NULL);
    one(fail_twice, NULL);
    one(succeed, NULL);
    one(exchange, NULL);
    volatile int *plain = (volatile int *)&cell;
    int value = *plain;
    USE(*plain);
    printf("%d\n", value);
    return 0;
}
