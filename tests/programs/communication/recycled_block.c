// A block that was freed and handed out again carries nothing of its former owner: reading it is cold. Small blocks come back
// from the thread's cache, middle ones from the heap's free lists, large ones from the kernel.
// THREADS: 7
// STDOUT: same same
// EXPECT: raw = 0
// EXPECT: rar = 0
#include "team.h"

static void *look(void *block) {
    volatile int *words = block;
    for (int i = 1; i < 16; i++)
        USE(words[i]);
    return NULL;
}

static void *fill(void *block) {
    volatile int *words = block;
    for (int i = 0; i < 16; i++)
        words[i] = i;
    return NULL;
}

static NOINLINE int recycle(size_t bytes) {
    void *block = malloc(bytes);
    uintptr_t before = (uintptr_t)block;
    one(fill, block);
    free(block);
    block = malloc(bytes);
    one(look, block);
    int same = (uintptr_t)block == before;
    free(block);
    return same;
}

int main(void) {
    int small = recycle(80), middle = recycle(4000);
    recycle(1 << 20);
    printf("%s %s\n", small ? "same" : "other", middle ? "same" : "other");
    return 0;
}
