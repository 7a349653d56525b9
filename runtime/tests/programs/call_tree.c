// Regions by their way in the call tree: recursion folds, and what a jump leaves is left with the region that it leaves to.
// flags: -DCOUNTERS=1
// linkage: archive static
// profile: node 0 5: 1
// profile: node 0 5/6: 3
// profile: node 0 5/6/7: 3
// profile: node 0 5/7: 2
// profile: node 0 5/7/6: 1
// profile: node 0 5/8: 1
// profile: node 1 9: 1
// profile-count: 7 node
#include "counters.h"
#include <pthread.h>
#include <setjmp.h>

// The convention keeps all registers but r11; the compiler that builds this knows it.
__attribute__((preserve_most)) extern void __threadtalk_enter(uint32_t);
__attribute__((preserve_most)) extern void __threadtalk_exit(uint32_t);

static jmp_buf back;

static void recursive(int depth) {
    __threadtalk_enter(6);
    __threadtalk_enter(7);
    if (depth > 0)
        recursive(depth - 1);
    __threadtalk_exit(7);
    __threadtalk_exit(6);
}

static void jumps(void) {
    __threadtalk_enter(7);
    __threadtalk_enter(6);
    longjmp(back, 1);
}

static void *work(void *unused) {
    __threadtalk_enter(9);
    __threadtalk_exit(9);
    __threadtalk_exit(9); // never entered: nothing
    return unused;
}

int main(void) {
    pthread_t thread;
    __threadtalk_enter(5);
    recursive(2);
    __threadtalk_enter(7);
    __threadtalk_exit(7);
    __threadtalk_enter(8);
    __threadtalk_exit(8);
    if (setjmp(back) == 0)
        jumps();
    __threadtalk_exit(5);
    pthread_create(&thread, NULL, work, NULL);
    pthread_join(thread, NULL);
    return 0;
}
