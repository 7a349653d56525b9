// An access of s bytes is one event for each granule that it touches: 8 bytes are two, 16 are four, the 10 bytes of a long double
// three; unaligned ones touch one more.
// THREADS: 3
// LET: N = 100
// EXPECT: raw = 2 * N + 2 * N + 4 * N + 3 * N if w == 1 && r == 2
// EXPECT: rar = 2 * N + 2 * N + 4 * N + 3 * N + 3 * N + 2 * N if w == 1 && r == 2
#include "team.h"

enum { N = 100 };
typedef int Vector __attribute__((vector_size(16)));
static volatile double doubles[N] __attribute__((aligned(64)));
static volatile int64_t longs[N] __attribute__((aligned(64)));
static volatile Vector vectors[N];
static volatile long double extended[N];

static void *write(void *unused) {
    for (int i = 0; i < N; i++) {
        doubles[i] = i;
        longs[i] = i;
        vectors[i] = (Vector){i, i, i, i};
        extended[i] = i;
    }
    return unused;
}

static NOINLINE void read_all(void) {
    for (int i = 0; i < N; i++) {
        double d = doubles[i];
        Vector v = vectors[i];
        long double e = extended[i];
        __asm__ volatile("" ::"x"(d), "x"(v), "t"(e) : "memory");
        USE(longs[i]);
    }
}

typedef volatile struct { int64_t value; } __attribute__((packed)) Unaligned8;
typedef volatile struct { int value; } __attribute__((packed)) Unaligned4;

static void *read(void *unused) {
    read_all();
    read_all();
    // Bytes 2 to 9 are three granules, bytes 2 to 5 are two. The last element has no successor that was written.
    for (int i = 0; i < N; i++) {
        const volatile char *base = (const volatile char *)&longs[i < N - 1 ? i : 0];
        USE(((const Unaligned8 *)(base + 2))->value);
        USE(((const Unaligned4 *)(base + 2))->value);
    }
    return unused;
}

int main(void) {
    one(write, NULL);
    one(read, NULL);
    return 0;
}
