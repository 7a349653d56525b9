// Packed records of 5 bytes, a char and an int: of four records (20 bytes) the ints touch granules 0 1, 1 2, 2 3 and 4, which is
// seven events on five elements.
// THREADS: 3
// LET: N = 400
// EXPECT: raw = 5 * N / 4 if w == 1 && r == 2
// EXPECT: rar = 2 * N / 4 + 7 * N / 4 if w == 1 && r == 2
#include "team.h"

enum { N = 400 };
typedef struct __attribute__((packed)) { char tag; int value; } Record;
static volatile Record records[N] __attribute__((aligned(64)));

static void *write(void *unused) {
    for (int i = 0; i < N; i++) {
        records[i].tag = 'x';
        records[i].value = i;
    }
    return unused;
}

static void *read(void *unused) {
    for (int sweep = 0; sweep < 2; sweep++)
        for (int i = 0; i < N; i++)
            USE(records[i].value);
    return unused;
}

int main(void) {
    one(write, NULL);
    one(read, NULL);
    return 0;
}
