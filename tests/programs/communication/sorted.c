// qsort by another thread: each element written by worker 1 is communicated once, what follows is worker 2's own. Worker 3 reads
// the result, which is worker 2's.
// THREADS: 4
// LET: N = 500
// EXPECT: raw = N if w == 1 && r == 2; N if w == 2 && r == 3
// EXPECT: rar <= 32 * N if w == 1 && r == 2; 0
#include "team.h"

enum { N = 500 };
static int numbers[N];

static void *scramble(void *unused) {
    for (int i = 0; i < N; i++)
        ((volatile int *)numbers)[i] = i * 7919 % N;
    return unused;
}

static int by_value(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }

static void *sort(void *unused) {
    qsort(numbers, N, sizeof(int), by_value);
    return unused;
}

static void *check(void *unused) {
    for (int i = 0; i < N; i++)
        if (((volatile int *)numbers)[i] != i)
            abort();
    return unused;
}

int main(void) {
    one(scramble, NULL);
    one(sort, NULL);
    one(check, NULL);
    return 0;
}
