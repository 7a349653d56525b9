// Long loops over new values of which one access reads what another one has read some iterations before: a signal beside itself a
// little later, filters, images. The one ahead is first, at whatever line it is.
// THREADS: 2
// LET: N = 6000
// LET: AHEAD = 40
// LET: NEW = N + AHEAD + N / 2 + 12 / 2 + N / 4 + N / 4
// EXPECT: raw = NEW if w == 0 && r == 1
// EXPECT: raw lines numbers -> behind = AHEAD
// EXPECT: raw lines numbers -> ahead = N
// EXPECT: raw lines pairs -> product = N / 2 + 12 / 2
// EXPECT: raw lines bytes -> filter = N / 4
// EXPECT: raw lines image -> blur = N / 4
// LEVELS: O0, O1, O3 -mavx2, O2
#include "team.h"

enum { N = 6000, AHEAD = 40, LAG = 12, WIDTH = 500 };

static int numbers[N + AHEAD] __attribute__((aligned(64)));
static short pairs[N + LAG] __attribute__((aligned(64)));
static unsigned char bytes[N] __attribute__((aligned(64))), image[N] __attribute__((aligned(64)));
static unsigned char filtered[N], blurred[N];

static NOINLINE int later(const int *from, long n) {
    int sum = 0;
    for (long i = 0; i < n; i++) {
        int one = from[i] * 3;          /*@behind*/
        sum += one ^ from[i + AHEAD]; /*@ahead*/
    }
    return sum;
}

static NOINLINE int product(const short *from, long n) {
    int sum = 0;
    for (long i = 0; i < n; i++)
        sum += from[i] * from[i + LAG]; /*@product*/
    return sum;
}

static NOINLINE void filter(const unsigned char *from, unsigned char *to, long n) {
    for (long i = 1; i < n - 1; i++)
        to[i] = (unsigned char)((from[i - 1] + 2 * from[i] + from[i + 1]) / 4); /*@filter*/
}

static NOINLINE void blur(const unsigned char *from, unsigned char *to, long height) {
    for (long y = 1; y < height - 1; y++)
        for (long x = y * WIDTH; x < (y + 1) * WIDTH; x++)
            to[x] = (unsigned char)((from[x - 1] + from[x + 1] + from[x - WIDTH] + from[x + WIDTH]) / 4); /*@blur*/
}

static void *work(void *unused) {
    for (int round = 0; round < 3; round++) {
        USE(later(numbers, N));
        USE(product(pairs, N));
        filter(bytes, filtered, N);
        USE(filtered[N / 2]);
        blur(image, blurred, N / WIDTH);
        USE(blurred[N / 2]);
    }
    return unused;
}

int main(void) {
    for (int i = 0; i < N + AHEAD; i++)
        numbers[i] = i; /*@numbers*/
    for (int i = 0; i < N + LAG; i++)
        pairs[i] = (short)(i % 100); /*@pairs*/
    for (int i = 0; i < N; i++)
        bytes[i] = (unsigned char)i; /*@bytes*/
    for (int i = 0; i < N; i++)
        image[i] = (unsigned char)(3 * i); /*@image*/
    one(work, NULL);
    return 0;
}
