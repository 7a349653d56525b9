// Bytes that main wrote are looked up in a table of counts, which lies beside them once and in their midst once: only in the first case may a loop
// count its reads of bytes before it runs. Where the table is, an element of counts is read until the first count is stored to it: the one of number
// 0 by the first byte, all others when the bytes behind the table come.
// THREADS: 2
// LET: N = 4096
// LET: T = 256
// EXPECT: raw lines bytes -> beside = N / 4
// EXPECT: rar lines bytes -> beside = N - N / 4
// EXPECT: raw lines within -> inside = N / 4
// EXPECT: rar lines within -> inside = (N - 4) / 4 * 3 + T
#include "team.h"

enum { N = 4096, T = 256 };
static unsigned char bytes[N] __attribute__((aligned(4)));
static int32_t counts[T];
static union {
    unsigned char bytes[N];
    int32_t counts[T];
} both;

static NOINLINE void beside(const unsigned char *from, long n, int32_t *table) {
    for (long i = 0; i < n; i++)
        table[from[i]]++; /*@beside*/
}

static NOINLINE void inside(const unsigned char *from, long n, int32_t *table) {
    for (long i = 0; i < n; i++)
        table[from[i]]++; /*@inside*/
}

static void *work(void *me) {
    beside(bytes, N, counts);
    inside(both.bytes, N, both.counts);
    return me;
}

int main(void) {
    for (int i = 0; i < N; i++)
        bytes[i] = i * 7 % T; /*@bytes*/
    for (int i = 0; i < N; i++)
        both.bytes[i] = i < 4 * T ? 0 : i * 7 % T; /*@within*/
    team(1, work);
    return counts[3] == 1;
}
