// What a thread received in one function it uses again in another: the second has reuse without communication of its own.
// THREADS: 3
// LET: N = 90
// EXPECT: raw in receive = N if w == 1 && r == 2
// EXPECT: rar in receive = 0
// EXPECT: raw in again = 0
// EXPECT: rar in again = 2 * N if w == 1 && r == 2
// EXPECT: number carried_in.0.0 in loop again@back = 1
// EXPECT: number carried_in.0.1 in loop again@back = 2
#include "team.h"

enum { N = 90 };
static volatile int words[N];

static void *fill(void *unused) {
    for (int i = 0; i < N; i++)
        words[i] = i;
    return unused;
}

NOINLINE void receive(void) {
    for (int i = 0; i < N; i++)
        USE(words[i]);
}

NOINLINE void again(long n) {
    for (long i = n; i-- > 0;) /*@back*/
        USE(words[i] + words[i]);
}

static void *look(void *n) {
    receive();
    again((long)(intptr_t)n);
    return NULL;
}

int main(void) {
    volatile intptr_t n = N;
    one(fill, NULL);
    one(look, (void *)n);
    return 0;
}
