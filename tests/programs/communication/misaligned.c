// Numbers at addresses that are no multiples of their size, through pointers to bytes and halves that are cast: codecs,
// compressors and hash functions do that, and the compiler believes each access to be aligned.
// THREADS: 6
// FLAGS: -fno-strict-aliasing
// LET: N = 500
// EXPECT: raw = 2*N + 1 if w >= 1 && w <= 3 && r == 4; 2*N if w == 1 && r == 5
// EXPECT: rar = 6*N - 1 if w >= 1 && w <= 3 && r == 4; 2*N - 2 if w == 1 && r == 5
#include "team.h"

enum { N = 500, BYTES = 8 * N + 8 };
static unsigned char one_by_one[BYTES], streamed[BYTES], halves[BYTES];

NOINLINE static void fill(unsigned char *to, long n) {
    for (long i = 0; i < n; i++) {
        *(uint64_t *)(to + 8 * i) = (uint64_t)i;
        FENCE();
    }
}

struct stream {
    unsigned char *at;
};

NOINLINE static void put(struct stream *to, uint64_t value) {
    *(uint64_t *)to->at = value;
    to->at += sizeof value;
}

NOINLINE static void fill_halves(int16_t *to, long n, long step) {
    for (long i = 0; i < n; i++) {
        *(uint64_t *)(to + step * i) = (uint64_t)i;
        FENCE();
    }
}

static void *write_one_by_one(void *unused) {
    fill(one_by_one + 2, N);
    return unused;
}

static void *write_streamed(void *unused) {
    struct stream stream = {streamed + 1};
    USE(&stream);
    for (int i = 0; i < N; i++)
        put(&stream, (uint64_t)i);
    return unused;
}

static void *write_halves(void *unused) {
    long step = 4;
    USE(&step);
    fill_halves((int16_t *)(halves + 2), N, step);
    return unused;
}

static void *read_bytes(void *unused) {
    volatile unsigned char *all[] = {one_by_one + 2, streamed + 1, halves + 2};
    for (int k = 0; k < 3; k++)
        for (int i = 0; i < 8 * N; i++)
            USE(all[k][i]);
    return unused;
}

NOINLINE static uint32_t word(const unsigned char *at) { return *(const volatile uint32_t *)at; }

static void *read_words(void *unused) {
    for (int i = 0; i < 2 * N - 1; i++)
        USE(word(one_by_one + 3 + 4 * i));
    return unused;
}

int main(void) {
    void *(*work[])(void *) = {write_one_by_one, write_streamed, write_halves, read_bytes, read_words};
    for (int k = 0; k < 5; k++)
        one(work[k], NULL);
    return 0;
}
