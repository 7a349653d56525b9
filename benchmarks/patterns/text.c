/* Bytes: texts and images that a neighbour wrote. */
#include "rounds.h"

static uint8_t *texts[MOST_THREADS];
static uint32_t table[256];

static void prepare(void) {
    for (int i = 0; i < threads; i++) texts[i] = zeroed(n + 64);
    for (uint32_t i = 0; i < 256; i++) {
        uint32_t c = i;
        for (int k = 0; k < 8; k++) c = c & 1 ? c >> 1 ^ 0xedb88320u : c >> 1;
        table[i] = c;
    }
}

__attribute__((noinline)) static void fill(int me, long round) {
    uint8_t *text = texts[me];
    for (long i = 0; i < n; i++) text[i] = (i + round) % 7 ? 'a' + (i * 5 + round) % 26 : ' ';
}

#if defined(WORDS)
static long found[MOST_THREADS][1024];
__attribute__((noinline)) static double use(int me) {
    const uint8_t *text = texts[next(me)];
    long words = 0;
    for (long i = 0; i < n;) {
        while (i < n && text[i] == ' ') i++;
        uint32_t hash = 5381;
        while (i < n && text[i] != ' ') hash = hash * 33 + text[i++];
        found[me][hash & 1023]++;
        words++;
    }
    return words;
}
#elif defined(UPPER)
__attribute__((noinline)) static double use(int me) {
    uint8_t *text = texts[next(me)];
    for (long i = 0; i < n; i++) if (text[i] >= 'a' && text[i] <= 'z') text[i] -= 32;
    return text[n / 2];
}
#elif defined(CHECKSUM)
__attribute__((noinline)) static double use(int me) {
    const uint8_t *text = texts[next(me)];
    uint32_t c = ~0u;
    for (long i = 0; i < n; i++) c = table[(c ^ text[i]) & 255] ^ c >> 8;
    return c;
}
#elif defined(MATCHES)
/* The longest match at distances of up to 64 bytes, as compressors look for it. */
__attribute__((noinline)) static double use(int me) {
    const uint8_t *text = texts[next(me)];
    long sum = 0;
    for (long i = 64; i + 16 < n; i += 16) {
        int best = 0;
        for (int back = 1; back < 64; back++) {
            int length = 0;
            while (length < 16 && text[i + length] == text[i - back + length]) length++;
            if (length > best) best = length;
        }
        sum += best;
    }
    return sum;
}
#elif defined(BLOCKS)
/* Differences of blocks of 8 x 8 bytes in an image of 256 columns, as in the search for motion. */
__attribute__((noinline)) static int difference(const uint8_t *a, const uint8_t *b) {
    int sum = 0;
    for (int y = 0; y < 8; y++, a += 256, b += 256)
        for (int x = 0; x < 8; x++) sum += abs(a[x] - b[x]);
    return sum;
}
__attribute__((noinline)) static double use(int me) {
    long sum = 0;
    for (long y = 0; (y + 9) * 256 <= n; y += 8)
        for (long x = 0; x < 256 - 16; x += 8)
            for (int d = 0; d < 4; d++)
                sum += difference(texts[me] + y * 256 + x, texts[next(me)] + y * 256 + x + d);
    return sum;
}
#endif
