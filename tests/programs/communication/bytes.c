// Elements of 1 and 2 bytes share a granule: its first read is communication, the others reuse. The last writer of any byte of
// a granule is the granule's writer.
// THREADS: 5
// LET: N = 1200
// EXPECT: raw = N / 4 + N / 2 if w == 1 && r == 2; 1 if w == 3 && r == 4
// EXPECT: rar = 3 * N / 4 + N / 2 if w == 1 && r == 2; 1 if w == 3 && r == 4
#include "team.h"

enum { N = 1200 };
static volatile char bytes[N] __attribute__((aligned(64)));
static volatile short shorts[N] __attribute__((aligned(64)));
static volatile char mixed[4] __attribute__((aligned(4)));

static void *write(void *unused) {
    for (int i = 0; i < N; i++) {
        bytes[i] = (char)i;
        shorts[i] = (short)i;
    }
    mixed[0] = 1;
    return unused;
}

static void *read(void *unused) {
    for (int i = 0; i < N; i++) {
        USE((int)bytes[i]);
        USE((int)shorts[i]);
    }
    return unused;
}

static void *overwrite(void *unused) {
    mixed[1] = 2;
    return unused;
}

static void *read_mixed(void *unused) {
    USE((int)mixed[0]);
    USE((int)mixed[1]);
    return unused;
}

int main(void) {
    one(write, NULL);
    one(read, NULL);
    one(overwrite, NULL);
    one(read_mixed, NULL);
    return 0;
}
