// Rows of bytes and of pairs of bytes that vectors read, at every place in a granule: a vector that begins inside of one reads one
// more. Which vectors there are is the compiler's business; that each granule is new to the reader once is not.
// THREADS: 2
// LET: NEW = 512 / 4 + 1024 * 2 / 4 + 64 * 24 * 2 / 4
// LET: RAISED = 49 * 24
// LET: BACK = 256 / 4 * 24
// EXPECT: raw = NEW if w == 0 && r == 1; BACK if w == 1 && r == 0
// EXPECT: raw lines raised -> sum = RAISED
// EXPECT: raw lines lowered -> sum = BACK - RAISED
// OPTIONS: crd=off
// LEVELS: O0, O1, O3 -mavx2, O2
#include "team.h"
#include <stdlib.h>

enum { BYTES = 512, PAIRS = 1024, ROWS = 24, ROW = 64, WIDE = 256, ROUNDS = 80 };

static unsigned char bytes[BYTES] __attribute__((aligned(64)));
static short pairs[PAIRS] __attribute__((aligned(64)));
static short rows[ROWS][ROW] __attribute__((aligned(64)));
static unsigned char filtered[BYTES];
static unsigned char written[ROWS][WIDE] __attribute__((aligned(64)));
static int calls;
static volatile int width = 48, most = 192, stride = 32, height = 15;

static NOINLINE int sum(const unsigned char *from, long n) {
    int sum = 0;
    for (long i = 0; i < n; i++)
        sum += from[i]; /*@sum*/
    return sum;
}

static NOINLINE int product(const short *a, const short *b, long n) {
    int sum = 0;
    for (long i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

static NOINLINE void filter(void) {
    for (long i = 1; i < BYTES - 1; i++)
        filtered[i] = (unsigned char)((bytes[i - 1] + 2 * bytes[i] + bytes[i + 1]) / 4);
}

// Rows of which each is a few vectors.
static NOINLINE int correlations(const short *first, const short *second, int width, int height) {
    int best = 0;
    for (int lag = 0; lag < 8; lag++) {
        int sum = 0;
        for (int row = 0; row < height; row++)
            for (int i = 0; i < width; i++)
                sum += first[row * ROW + i + lag] * second[row * ROW + i];
        best = sum > best ? sum : best;
    }
    return best;
}

// Columns that are as wide as a vector.
static NOINLINE int similar(const unsigned char *first, const unsigned char *second, long stride, int height) {
    int best = 1 << 30;
    calls++;
    for (int lag = 0; lag < 8; lag++) {
        int sum = 0;
        for (int row = 0; row < height; row++)
            for (int i = 0; i < 16; i++)
                sum += abs(first[row * stride + i + lag] - second[row * stride + i]);
        best = sum < best ? sum : best;
    }
    return best;
}

// Rows are written by turns, at some place in a granule.
static NOINLINE void raised(const unsigned char *from, unsigned char *to, int width, int height) {
    for (int row = 0; row < height; row++)
        for (int i = 0; i < width; i++)
            to[row * WIDE + i] = from[row * 8 + i] + 1; /*@raised*/
}

static NOINLINE void lowered(const unsigned char *from, unsigned char *to, int width, int height) {
    for (int row = 0; row < height; row++)
        for (int i = 0; i < width; i++)
            to[row * WIDE + i] = from[row * 8 + i] - 1; /*@lowered*/
}

static void *work(void *unused) {
    for (int round = 0; round < ROUNDS; round++) {
        for (long first = 0; first < 8; first++) {
            USE(sum(bytes + first, BYTES - 8));
            USE(product(pairs + first, pairs + PAIRS / 2, PAIRS / 2 - 8));
        }
        filter();
        USE(correlations(rows[0], rows[1], (ROWS - 1) * ROW - 8, 1));
        USE(correlations(rows[0], rows[1], width, ROWS - 1));
        USE(similar(bytes, bytes + 32, stride, height));
        lowered(bytes, written[0], WIDE, ROWS);
        raised(bytes, written[0] + 7, most, ROWS);
        USE(sum(bytes, BYTES) + product(pairs, pairs + 1, PAIRS - 1) + product(rows[0], rows[1], (ROWS - 1) * ROW));
    }
    return unused;
}

int main(void) {
    for (int i = 0; i < BYTES; i++)
        bytes[i] = (unsigned char)(3 * i);
    for (int i = 0; i < PAIRS; i++)
        pairs[i] = (short)(i % 100);
    for (int i = 0; i < ROWS * ROW; i++)
        rows[0][i] = (short)(i % 50);
    one(work, NULL);
    USE(sum(written[0], ROWS * WIDE));
    return 0;
}
