// Blocks of an image, row by row and column by column: rows of bytes and of pairs of bytes in nests, and columns whose stride is
// a multiple of a granule or is not. Each read is an event of its own, also of a granule that the last read was of.
// THREADS: 2
// LET: WIDTH = 48
// LET: HEIGHT = 40
// LET: ODD = 37
// LET: ROUNDS = 60
// LET: PIXELS = WIDTH * HEIGHT
// LET: NEW = PIXELS / 4 + PIXELS / 2 + ODD * HEIGHT / 4
// LET: BLOCKS = 9 * 2 * 16 * HEIGHT
// LET: READ = 3 * PIXELS + (BLOCKS + 3 * PIXELS + 19 * HEIGHT + ODD * HEIGHT) * ROUNDS
// LET: LAST = 6 * HEIGHT
// LET: BACK = PIXELS / 4 + LAST
// EXPECT: raw = NEW if w == 0 && r == 1; BACK if w == 1 && r == 0
// EXPECT: rar = READ - NEW if w == 0 && r == 1; PIXELS + 22 * HEIGHT - BACK if w == 1 && r == 0
// EXPECT: raw lines smoothed -> own = PIXELS / 4 - HEIGHT
// EXPECT: raw lines inverted -> own = HEIGHT
// EXPECT: raw lines others -> more = LAST
// OPTIONS: crd=off
// LEVELS: O0, O1, O2, O3 -mavx2
#include "team.h"

enum { WIDTH = 48, HEIGHT = 40, ODD = 37, BLOCK = 16, ROUNDS = 60 };

static unsigned char bytes[HEIGHT][WIDTH] __attribute__((aligned(64)));
static unsigned short pairs[HEIGHT][WIDTH] __attribute__((aligned(64)));
static unsigned char odd[HEIGHT * ODD] __attribute__((aligned(4)));
static unsigned char own[HEIGHT][WIDTH] __attribute__((aligned(64))), more[HEIGHT][WIDTH] __attribute__((aligned(64)));

static NOINLINE float block(const unsigned char *at, const unsigned short *others, int width, int height) {
    float sum = 0;
    for (int y = 0; y < height; y++, at += WIDTH, others += WIDTH)
        for (int x = 0; x < width; x++)
            sum += at[x] * .5f + others[x];
    return sum;
}

static NOINLINE float blocks(int width) {
    float sum = 0;
    for (int x = 0; x + BLOCK <= WIDTH; x += 4)
        sum += block(&bytes[0][x], &pairs[0][x], width, HEIGHT);
    return sum;
}

// Rows of bytes are written, too.
static NOINLINE int smoothed(const unsigned char *from, unsigned char *to, int width, int height) {
    int last = 1;
    for (int y = 0; y < height; y++, from += WIDTH, to += WIDTH)
        for (int x = 0; x < width; x++) {
            last = (last * 5 + from[x]) % 251;
            to[x] = (unsigned char)last; /*@smoothed*/
        }
    return last;
}

// At two lines; and last where others were written.
static NOINLINE int inverted(const unsigned char *from, unsigned char *to, unsigned char *others, int width, int height) {
    int last = 1;
    for (int y = 0; y < height; y++, from += WIDTH, to += WIDTH, others += WIDTH)
        for (int x = 0; x < width; x++) {
            last = (last * 3 + from[x]) % 241;
            others[x] = (unsigned char)last; /*@others*/
            to[x] = (unsigned char)~last;    /*@inverted*/
        }
    return last;
}

static NOINLINE float columns(const unsigned char *first, long stride, int n, int height) {
    float sum = 0;
    for (int x = 0; x < n; x++)
        for (int y = 0; y < height; y++)
            sum += first[y * stride + x] * .25f;
    return sum;
}

static NOINLINE float columns_of_pairs(int height) {
    float sum = 0;
    for (int x = 0; x < WIDTH; x++)
        for (int y = 0; y < height; y++)
            sum += pairs[y][x] * .25f;
    return sum;
}

static void *work(void *unused) {
    // All that is new, in long rows at the lines of the short ones.
    USE(block(bytes[0], pairs[0], WIDTH * HEIGHT, 1));
    USE(smoothed(bytes[0], own[0], WIDTH * HEIGHT, 1));
    for (int round = 0; round < ROUNDS; round++) {
        USE(blocks(BLOCK));
        USE(smoothed(bytes[0] + 19, own[0] + 19, WIDTH - 19, HEIGHT));
        USE(inverted(bytes[0] + 3, own[0] + 3, more[0] + 3, 19, HEIGHT));
        USE(smoothed(bytes[0], own[0], 19, HEIGHT));
        USE(columns(bytes[0], WIDTH, WIDTH, HEIGHT));
        USE(columns_of_pairs(HEIGHT));
        USE(columns(odd, ODD, ODD, HEIGHT));
    }
    return unused;
}

int main(void) {
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < WIDTH; x++)
            bytes[y][x] = (unsigned char)(x * y), pairs[y][x] = (unsigned short)(x + y);
    for (int i = 0; i < HEIGHT * ODD; i++)
        odd[i] = (unsigned char)i;
    one(work, NULL);
    unsigned sum = 0;
    for (int y = 0; y < HEIGHT; y++) {
        for (int x = 0; x < WIDTH; x++)
            sum = sum * 3 + own[y][x]; /*@own*/
        for (int x = 0; x < 22; x++)
            sum = sum * 3 + more[y][x]; /*@more*/
    }
    USE(sum);
    return 0;
}
