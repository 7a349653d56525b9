// Masked and gathered vector accesses count active lanes only: every third element is read through an index, and of the masked
// array only elements whose flag is set.
// LEVELS: O0, O2, O3 -mavx2, O3 -march=native -mprefer-vector-width=512
// THREADS: 3
// LET: N = 3000
// EXPECT: raw in gathered = N / 3 if w == 1 && r == 2
// EXPECT: raw in masked = N + N / 4 if w == 1 && r == 2
// EXPECT: raw = N / 3 + N + N / 4 if w == 1 && r == 2
// EXPECT: rar = 0
#include "team.h"

enum { N = 3000 };

NOINLINE int gathered(const int *restrict from, const int *restrict index, size_t n) {
    int sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += from[index[i]];
    return sum;
}

NOINLINE int masked(const int *restrict flags, const int *restrict values, size_t n) {
    int sum = 0;
    for (size_t i = 0; i < n; i++)
        if (flags[i])
            sum += values[i];
    return sum;
}

static void *write(void *block) {
    volatile int *from = block, *flags = from + 2 * N, *values = from + 3 * N;
    for (int i = 0; i < N; i++) {
        from[i] = i;
        flags[i] = i % 4 == 0;
        values[i] = i;
    }
    return NULL;
}

static void *read(void *block) {
    int *from = block, *index = from + N;
    // Made by the reader itself: reading the indices communicates nothing.
    for (volatile int i = 0; i < N / 3; i++)
        index[i] = 3 * i;
    FENCE();
    USE(gathered(from, index, N / 3));
    USE(masked(from + 2 * N, from + 3 * N, N));
    return NULL;
}

int main(void) {
    void *block = malloc(4 * N * sizeof(int));
    one(write, block);
    one(read, block);
    free(block);
    return 0;
}
