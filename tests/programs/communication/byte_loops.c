// Loops that write single bytes: one after the other, with gaps that leave no granule out, and with gaps that do. A granule of
// which one byte was written is the writer's.
// THREADS: 5
// LET: CLOSE = 1001
// LET: DENSE = 750
// LET: WIDE = 600
// EXPECT: raw = CLOSE + DENSE + WIDE if w == 1 && r == 2; 3 * 1024 - CLOSE - DENSE - WIDE if w == 0 && r == 2; CLOSE if w == 3 && r == 4; 1024 - CLOSE if w == 0 && r == 4
// EXPECT: rar = 3 * (CLOSE + DENSE + WIDE) if w == 1 && r == 2; 3 * (3 * 1024 - CLOSE - DENSE - WIDE) if w == 0 && r == 2; 3 * CLOSE if w == 3 && r == 4; 3 * (1024 - CLOSE) if w == 0 && r == 4
#include "team.h"

enum { SIZE = 4096 };
static char bytes[3][SIZE] __attribute__((aligned(65536)));

static NOINLINE void fill(char *at, long n, long stride) {
    for (long i = 0; i < n; i++)
        at[i * stride] = (char)(i * i >> 3);
}

static NOINLINE void fill_close(char *at, long n) {
    for (long i = 0; i < n; i++)
        at[i] = (char)(i * i >> 3);
}

static NOINLINE void look(volatile char *at) {
    for (int i = 0; i < SIZE; i++)
        USE((int)at[i]);
}

static void *write(void *unused) {
    for (int round = 0; round < 3; round++) {
        fill_close(bytes[0] + 3, 4000);
        fill(bytes[1] + 1, 1000, 3);
        fill(bytes[2], 600, 5);
    }
    return unused;
}

static void *read(void *unused) {
    for (int i = 0; i < 3; i++)
        look(bytes[i]);
    return unused;
}

static void *write_again(void *unused) {
    fill_close(bytes[0] + 3, 4000);
    return unused;
}

static void *read_again(void *unused) {
    look(bytes[0]);
    return unused;
}

int main(void) {
    for (int i = 0; i < 3; i++)
        fill_close(bytes[i], SIZE);
    one(write, NULL);
    one(read, NULL);
    one(write_again, NULL);
    one(read_again, NULL);
    return 0;
}
