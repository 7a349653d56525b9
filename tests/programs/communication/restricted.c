// Two pointers that are `restrict` may lead to one array that nobody writes meanwhile: then it matters which of two
// lines reads an element first. The row comes to each even element after the line that reads only those.
// LEVELS: O0, O2, O3, Os -fno-vectorize
// THREADS: 3
// LET: N = 400
// EXPECT: raw lines written -> even = N
// EXPECT: rar lines written -> even = 0
// EXPECT: raw lines written -> row = N / 2
// EXPECT: rar lines written -> row = N / 2
// EXPECT: raw lines written -> first = 0
// EXPECT: rar lines written -> first = N
#include "team.h"

enum { N = 400 };

static int *volatile values;

NOINLINE long sum(const int *restrict twice, const int *restrict once, int n) {
    long z = 0;
    for (int i = 0; i < n; i++) {
        z ^= twice[2 * i]; /*@even*/
        long at = once[i]; /*@row*/
        z += twice[at]; /*@first*/
    }
    return z;
}

static void *write(void *block) {
    int *all = block;
    for (int i = 0; i < 2 * N; i++)
        all[i] = 0; /*@written*/
    values = all;
    return NULL;
}

static void *read(void *block) {
    int *twice = values, *once = values;
    USE(sum(twice, once, N));
    return block;
}

int main(void) {
    void *block = malloc(2 * N * sizeof(int));
    one(write, block);
    one(read, block);
    free(block);
    return 0;
}
