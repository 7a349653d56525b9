// Copying is reading the source and writing the destination: worker 2 relays what worker 1 wrote, worker 3 never meets worker 1.
// The first relay is a call whose length nobody knows, the second a structure assignment, the third an overlapping move.
// THREADS: 4
// LET: N = 300
// LET: S = 64
// EXPECT: raw = N + S + N - 10 if w == 1 && r == 2; N + S + N - 10 if w == 2 && r == 3; 10 if w == 1 && r == 3
// EXPECT: rar = 0
#include "team.h"
#include <string.h>

enum { N = 300, S = 64 };
typedef struct { int words[S]; } Parcel;
static int source[N], copy[N], shifted[N];
static Parcel parcel, parcel_copy;
static volatile size_t length = N;

static void *produce(void *unused) {
    volatile int *s = source, *p = parcel.words, *m = shifted;
    for (int i = 0; i < N; i++) {
        s[i] = i;
        m[i] = i;
    }
    for (int i = 0; i < S; i++)
        p[i] = i;
    return unused;
}

static void *relay(void *argument) {
    size_t n = (size_t)argument;
    memcpy(copy, source, n * sizeof(int));
    FENCE();
    parcel_copy = parcel;
    FENCE();
    memmove(shifted + 10, shifted, (n - 10) * sizeof(int));
    FENCE();
    return NULL;
}

static void *consume(void *unused) {
    volatile int *c = copy, *p = parcel_copy.words, *m = shifted;
    for (int i = 0; i < N; i++) {
        USE(c[i]);
        USE(m[i]);
    }
    for (int i = 0; i < S; i++)
        USE(p[i]);
    return unused;
}

int main(void) {
    one(produce, NULL);
    one(relay, (void *)length);
    one(consume, NULL);
    return 0;
}
