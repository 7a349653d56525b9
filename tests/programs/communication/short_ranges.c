// Short ranges that the C library reads: nothing to count where all of it is own, and events where only a part is. Worker
// 1 writes all numbers, worker 2 every other one again; then it compares 15 of them at each place with its own.
// LEVELS: O0, O2, O2 -fno-builtin
// THREADS: 3
// LET: N = 64
// LET: FOREIGN = 25 * 7 + 25 * 8
// EXPECT: raw in compare = N / 2 if w == 1 && r == 2
// EXPECT: rar in compare = FOREIGN - N / 2 if w == 1 && r == 2
// STDOUT: 50
#include "team.h"
#include <string.h>

enum { N = 64, LENGTH = 15 };
static int numbers[N];

static void *write(void *unused) {
    for (int i = 0; i < N; i++)
        ((volatile int *)numbers)[i] = i;
    return unused;
}

NOINLINE int compare(const int *numbers, const int *with) {
    return memcmp(numbers, with, LENGTH * sizeof(int)) == 0;
}

static void *read(void *unused) {
    int own[N];
    for (int i = 0; i < N; i++) {
        ((volatile int *)own)[i] = i;
        if (i % 2 == 0)
            ((volatile int *)numbers)[i] = i;
    }
    int equal = 0;
    for (int at = 0; at + LENGTH < N + 1; at++)
        equal += compare(numbers + at, own + at);
    printf("%d\n", equal);
    return unused;
}

int main(void) {
    one(write, NULL);
    one(read, NULL);
    return 0;
}
