// Calls that hand their frame on (musttail): nothing may follow them but the return, so what they allocate has no
// name, and the program is compiled and counted.
// THREADS: 2
// LEVELS: O0, O1, O2, O3
// LET: N = 500
// EXPECT: raw sum = N
// EXPECT: raw object pointer = N
// OPTIONS: objects=1
#include "team.h"

enum { N = 500 };
static volatile int *numbers;

static NOINLINE void *xmalloc(size_t bytes) {
    __attribute__((musttail)) return malloc(bytes);
}

static NOINLINE void *alloc_numbers(size_t n) {
    __attribute__((musttail)) return xmalloc(n);
}

static NOINLINE int total(const volatile int *row) {
    int sum = 0;
    for (int i = 0; i < N; i++)
        sum += row[i];
    return sum;
}

static void *work(void *row) {
    USE(total(row));
    return row;
}

static NOINLINE void fill(volatile int *row) {
    for (int i = 0; i < N; i++)
        row[i] = i;
}

int main(void) {
    numbers = alloc_numbers(N * sizeof *numbers);
    USE(alloc_numbers(3));
    fill(numbers);
    one(work, (void *)numbers);
    return 0;
}
