/* Samples of one or two bytes that a neighbour wrote: sound, images, numbers that were made short. */
#include "rounds.h"

enum { BLOCK = 64, WIDTH = 512 };

static int16_t *samples[MOST_THREADS];
static uint8_t *bytes[MOST_THREADS];
static uint8_t *outputs[MOST_THREADS];
static float least[BLOCK], scale[BLOCK];

static void prepare(void) {
    for (int i = 0; i < threads; i++) {
        samples[i] = zeroed(2 * n);
        bytes[i] = zeroed(n);
        outputs[i] = zeroed(n);
    }
    for (int i = 0; i < BLOCK; i++) least[i] = i * .5f, scale[i] = 1 + i * .25f;
}

__attribute__((noinline)) static void fill(int me, long round) {
    for (long i = 0; i < n; i++) samples[me][i] = (i * 7 + round) & 1023;
    for (long i = 0; i < n; i++) bytes[me][i] = i * 5 + round;
}

#if defined(PRODUCTS) || defined(ENERGY)
/* Blocks with those behind them: in vectors, or with sums of 64 bits, which no vector is made of. */
#if defined(PRODUCTS)
typedef int sum_of_products;
#else
typedef int64_t sum_of_products;
#endif
__attribute__((noinline)) static double use(int me) {
    const int16_t *of = samples[next(me)];
    sum_of_products sum = 0;
    for (long at = 0; at + 2 * BLOCK <= n; at += BLOCK)
        for (long i = 0; i < BLOCK; i++) sum += of[at + i] * of[at + BLOCK + i];
    return sum;
}
#elif defined(LAGS)
/* At which distance samples are alike: each of four begins at another place in a granule. */
__attribute__((noinline)) static int product(const int16_t *a, const int16_t *b, long length) {
    int sum = 0;
    for (long i = 0; i < length; i++) sum += a[i] * b[i];
    return sum;
}
__attribute__((noinline)) static double use(int me) {
    const int16_t *of = samples[next(me)];
    int best = 0;
    for (long lag = 0; lag < 16; lag++) {
        int sum = product(of, of + lag, n - 16);
        best = sum > best ? sum : best;
    }
    return best;
}
#elif defined(FILTER)
__attribute__((noinline)) static double use(int me) {
    const uint8_t *of = bytes[next(me)];
    uint8_t *to = outputs[me];
    for (long i = 1; i < n - 1; i++) to[i] = (of[i - 1] + 2 * of[i] + of[i + 1]) / 4;
    return to[n / 2];
}
#elif defined(BLUR)
__attribute__((noinline)) static double use(int me) {
    const uint8_t *of = bytes[next(me)];
    uint8_t *to = outputs[me];
    for (long y = 1; (y + 2) * WIDTH <= n; y++)
        for (long x = y * WIDTH + 1; x < (y + 1) * WIDTH - 1; x++)
            to[x] = (of[x - 1] + of[x + 1] + of[x - WIDTH] + of[x + WIDTH]) / 4;
    return to[n / 2];
}
#elif defined(CODES)
/* Distances to codes of a byte for each number, scaled. */
__attribute__((noinline)) static double use(int me) {
    const uint8_t *codes = bytes[next(me)];
    float best = 0;
    for (long code = 0; code + BLOCK <= n; code += BLOCK) {
        float sum = 0;
        for (long i = 0; i < BLOCK; i++) {
            float d = 40 - (least[i] + codes[code + i] * scale[i]);
            sum += d * d;
        }
        best = sum > best ? sum : best;
    }
    return best;
}
#endif
