// Distances from a query to codes of a byte or two bytes for each number: rows that read parts of granules, upwards, downwards
// and with gaps, beside rows of numbers that scale them. Each read is an event, also of a granule that was read just before.
// THREADS: 2
// LET: CODES = 20
// LET: NUMBERS = 72
// LET: ROUNDS = 9
// LET: NEW = 3 * NUMBERS + CODES * NUMBERS / 4 + CODES * NUMBERS / 2
// LET: READ = (4 * 72 + 4 * 72 + 4 * 24) * CODES * ROUNDS
// EXPECT: raw = NEW if w == 0 && r == 1
// EXPECT: rar = READ - NEW if w == 0 && r == 1
// LEVELS: O0, O1, O2, O3 -mavx2
#include "team.h"

enum { CODES = 20, NUMBERS = 72, ROUNDS = 9 };

static unsigned char bytes[CODES][NUMBERS] __attribute__((aligned(4)));
static unsigned short pairs[CODES][NUMBERS] __attribute__((aligned(4)));
static float least[NUMBERS], scale[NUMBERS], query[NUMBERS];

static NOINLINE float upwards(const unsigned char *code, long n) {
    float sum = 0;
    for (long i = 0; i < n; i++) {
        float d = query[i] - (least[i] + (code[i] + .5f) / 255 * scale[i]);
        sum += d * d;
    }
    return sum;
}

static NOINLINE float downwards(const unsigned short *code, long n) {
    float sum = 0;
    for (long i = n - 1; i >= 0; i--) {
        float d = query[i] - (least[i] + code[i] * scale[i]);
        sum += d * d;
    }
    return sum;
}

static NOINLINE float each_third(const unsigned char *code, long n) {
    float sum = 0;
    for (long i = 0; i < n; i += 3) {
        float d = query[i] - (least[i] + code[i] * scale[i]);
        sum += d * d;
    }
    return sum;
}

static void *work(void *unused) {
    for (int round = 0; round < ROUNDS; round++)
        for (int i = 0; i < CODES; i++)
            USE(upwards(bytes[i], NUMBERS) > downwards(pairs[i], NUMBERS) + each_third(bytes[i], NUMBERS));
    return unused;
}

int main(void) {
    for (int i = 0; i < NUMBERS; i++) {
        least[i] = i, scale[i] = i * .5f, query[i] = 3 * i;
        for (int k = 0; k < CODES; k++)
            bytes[k][i] = (unsigned char)(i * k), pairs[k][i] = (unsigned short)(i + k);
    }
    one(work, NULL);
    return 0;
}
