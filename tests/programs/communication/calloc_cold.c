// calloc leaves no writer: the zeros of a recycled block are cold, what is written afterwards is not.
// THREADS: 4
// STDOUT: same 0
// LET: N = 1000
// EXPECT: raw = N / 2 if w == 2 && r == 3
// EXPECT: rar = 0
#include "team.h"

enum { N = 1000 };

static void *fill(void *block) {
    volatile int *words = block;
    for (int i = 0; i < N; i++)
        words[i] = i;
    return NULL;
}

static void *fill_half(void *block) {
    volatile int *words = block;
    for (int i = 0; i < N / 2; i++)
        words[i] = 0;
    return NULL;
}

static void *add(void *block) {
    volatile int *words = block;
    intptr_t sum = 0;
    for (int i = 0; i < N; i++)
        sum += words[i];
    return (void *)sum;
}

int main(void) {
    void *block = malloc(N * sizeof(int)), *sum;
    uintptr_t before = (uintptr_t)block;
    one(fill, block);
    free(block);
    block = calloc(N, sizeof(int));
    one(fill_half, block);
    pthread_t adder;
    pthread_create(&adder, NULL, add, block);
    pthread_join(adder, &sum);
    printf("%s %ld\n", (uintptr_t)block == before ? "same" : "other", (long)(intptr_t)sum);
    free(block);
    return 0;
}
