// realloc that moves a block reads the old one and writes the new one in the caller's name; the old one dies. A block that shrinks
// and grows again has lost its tail. The large block moves by mremap. What was moved was written at the line of the call.
// THREADS: 6
// STDOUT: moved moved
// LET: N = 200
// LET: M = 100000
// EXPECT: raw = N if w == 1 && r == 0; N if w == 0 && r == 2; M if w == 3 && r == 0; M if w == 0 && r == 4; 100 if w == 0 && r == 5
// EXPECT: rar = 0
// EXPECT: raw lines small -> grow = N
// EXPECT: raw lines grow -> use = N + 100
// EXPECT: raw lines large -> stretch = M
// EXPECT: raw lines stretch -> use_large = M
#include "team.h"

enum { N = 200, M = 100000 };
static volatile size_t small = N, large = M;

static void *fill_small(void *block) {
    volatile int *words = block;
    for (int i = 0; i < N; i++)
        words[i] = i; /*@small*/
    return NULL;
}

static void *read_small(void *block) {
    volatile int *words = block;
    for (int i = 0; i < N; i++)
        USE(words[i]); /*@use*/
    return NULL;
}

static void *fill_large(void *block) {
    volatile int *words = block;
    for (int i = 0; i < M; i++)
        words[i] = i; /*@large*/
    return NULL;
}

static void *read_large(void *block) {
    volatile int *words = block;
    for (int i = 0; i < M; i++)
        USE(words[i]); /*@use_large*/
    return NULL;
}

int main(void) {
    void *block = malloc(small * sizeof(int)), *wall = malloc(64);
    uintptr_t before = (uintptr_t)block;
    one(fill_small, block);
    block = realloc(block, 4 * small * sizeof(int)); /*@grow*/
    int moved = (uintptr_t)block != before;
    one(read_small, block);
    void *big = malloc(large * sizeof(int));
    one(fill_large, big);
    before = (uintptr_t)big;
    big = realloc(big, 64 * large * sizeof(int)); /*@stretch*/
    printf("%s %s\n", moved ? "moved" : "stayed", (uintptr_t)big != before ? "moved" : "stayed");
    one(read_large, big);
    block = realloc(block, 100 * sizeof(int));
    block = realloc(block, small * sizeof(int));
    one(read_small, block);
    free(block);
    free(big);
    free(wall);
    return 0;
}
