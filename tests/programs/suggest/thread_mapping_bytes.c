// REFUSE: thread-mapping
// Each thread makes a sum of its part of a text that main has written, byte by byte. Four bytes are one element, so that
// three of four reads are further ones of it, but the text is read once, and fetched anyhow.
#include "team.h"

#define T 5
#define N (1 << 18)

static unsigned char text[T * N];
static struct {
    _Alignas(64) unsigned sum;
} sums[T];

static void *work(void *argument) {
    int me = (intptr_t)argument - 1;
    unsigned sum = 0;
    for (int i = 0; i < N; i++)
        sum = (sum ^ text[me * N + i]) * 16777619u;
    sums[me].sum = sum;
    return NULL;
}

int main(void) {
    for (int i = 0; i < T * N; i++)
        text[i] = i * 31 >> 3;
    FENCE();
    team(T, work);
    return sums[0].sum == 1;
}
