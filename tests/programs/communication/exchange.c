// The halves of an array are exchanged by a chain of moves; behind the loop a pointer is used that the loop advanced.
// THREADS: 4
// LET: N = 64
// LEVELS: O0, O1, O2, O3
// EXPECT: raw = N if w == 1 && r == 2; N if w == 2 && r == 3
#include "team.h"

enum { N = 64 };
static int words[N];

static NOINLINE void exchange(int *a, int *b, int *end) {
    int first = *a;
    do {
        *a++ = *b;
        *b++ = *a;
    } while (b < end);
    *a = first;
}

static void *give(void *unused) {
    for (int i = 0; i < N; i++)
        words[i] = i;
    return unused;
}

static void *turn(void *unused) {
    exchange(words, words + N / 2, words + N);
    return unused;
}

static void *take(void *unused) {
    for (int i = 0; i < N; i++)
        USE(((volatile int *)words)[i]);
    return unused;
}

int main(void) {
    one(give, NULL);
    one(turn, NULL);
    one(take, NULL);
    return 0;
}
