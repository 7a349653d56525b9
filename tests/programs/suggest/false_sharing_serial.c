// REFUSE: false-sharing
// THREADTALK: memory,control
// Threads fill a table together; then the first of them, alone, overwrites elements that it finds in no order. The threads
// had left each cache line when it came, and it reads what they wrote there.
#include <stdlib.h>
#define T 4
#define N (1 << 17)

static __attribute__((noinline)) void fill(int *at, int *end, int value) {
#pragma omp parallel for num_threads(T)
    for (int *one = at; one < end; one++)
        *one = value;
}

static __attribute__((noinline)) void mark(int *depth, const int *order) {
    for (int i = 0; i < N; i++)
        if (depth[order[i]] == -1)
            depth[order[i]] = i;
}

static __attribute__((noinline)) void stamp(int *depth, const int *order) {
    for (int i = 0; i < N; i++)
        depth[order[i]] = i;
}

int main(void) {
    int *depth = malloc(N * sizeof *depth), *order = malloc(N * sizeof *order);
    unsigned random = 1;
    for (int i = 0; i < N; i++)
        order[i] = (int)((random = random * 1664525u + 1013904223u) >> 15) | 1;
    for (int round = 0; round < 4; round++) {
        fill(depth, depth + N, -1);
        mark(depth, order);
        fill(depth, depth + N, -2);
        stamp(depth, order);
    }
    return depth[1] == 1;
}
