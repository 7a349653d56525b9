// One thread fills a block of the heap and a global array; another one reads both by their names.
// THREADS: 3
// LEVELS: O0, O1, O2
// LET: N = 900
// EXPECT: raw object heap block = N
// EXPECT: raw object global table = N
// EXPECT: raw object pointer = 0
// EXPECT: raw sum >= 2 * N
#include "team.h"

enum { N = 900 };
static int *block;
static int table[N];

static void *fill(void *unused) {
    for (int i = 0; i < N; i++) {
        block[i] = i;
        table[i] = -i;
    }
    return unused;
}

static void *read(void *unused) {
    for (int i = 0; i < N; i++) {
        USE(((volatile int *)block)[i]);
        USE(((volatile int *)table)[i]);
    }
    return unused;
}

int main(void) {
    block = malloc(N * sizeof *block);
    one(fill, NULL);
    one(read, NULL);
    free(block);
    return 0;
}
