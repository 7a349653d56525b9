// Every way to get memory that was another thread's a moment ago is cold; growing by reallocarray keeps what was written.
// THREADS: 10
// LET: N = 300
// EXPECT: raw = N if w == 0 && r == 9; N if w == 8 && r == 0
// EXPECT: rar = 0
#include "team.h"
#include <malloc.h>

enum { N = 300 };
static const size_t BYTES = 4096;

static void *fill(void *block) {
    volatile int *words = block;
    for (int i = 0; i < N; i++)
        words[i] = i;
    return NULL;
}

static void *look(void *block) {
    volatile int *words = block;
    for (int i = 0; i < N; i++)
        USE(words[i]);
    return NULL;
}

static void *aligned(size_t bytes) { return aligned_alloc(4096, bytes); }

static void *posix(size_t bytes) {
    void *block = NULL;
    return posix_memalign(&block, 4096, bytes) == 0 ? block : NULL;
}

static void *page(size_t bytes) { return memalign(4096, bytes); }

int main(void) {
    void *(*ways[])(size_t) = {aligned, posix, page};
    void *block = malloc(BYTES);
    for (int k = 0; k < 3; k++) {
        one(fill, block);
        free(block);
        block = ways[k](BYTES);
        if (block == NULL)
            return 1;
        one(look, block);
    }
    free(block);
    block = malloc(N * sizeof(int));
    one(look, block);
    void *wall = malloc(64);
    one(fill, block);
    block = reallocarray(block, 8 * N, sizeof(int));
    one(look, block);
    free(block);
    free(wall);
    return 0;
}
