/* A product of matrices in tiles, as libraries of such products and of neural networks have it: each thread packs some
 * panels of twelve columns, and multiplies all of its neighbour's. What packs a panel are twelve lines, each of which
 * writes some numbers that follow each other; what multiplies are twelve lines, each of which reads one of a row. */
#include "rounds.h"
#include <xmmintrin.h>

enum { DEPTH = 256, COLUMNS = 12, ROWS = 4 };

struct panels {
    void *data;
    size_t step, size;
};

static struct panels panels;
static long each;
static float *source, *left;

static void prepare(void) {
    each = n / 100 + 1;
    size_t bytes = (size_t)threads * each * DEPTH * COLUMNS * sizeof(float);
    panels = (struct panels){zeroed(bytes), DEPTH * COLUMNS, sizeof(float)};
    source = zeroed(DEPTH * COLUMNS * sizeof(float));
    left = zeroed((size_t)threads * ROWS * DEPTH * sizeof(float));
}

#if defined(BYTES)
/* A panel's place is known in bytes only. */
static inline float *panel(long i) { return (float *)((unsigned char *)panels.data + i * panels.step * panels.size); }
#else
static inline float *panel(long i) { return (float *)panels.data + i * panels.step; }
#endif

#if defined(EIGHT)
enum { LANES = 8 };
#else
enum { LANES = 4 };
#endif

static inline void put(float *to, const float *from, float more) {
    for (int lane = 0; lane < LANES; lane += 4) _mm_storeu_ps(to + lane, _mm_add_ps(_mm_loadu_ps(from + lane), _mm_set1_ps(more)));
}

__attribute__((noinline)) static void pack(float *to, const float *from, float more) {
    for (long k = 0; k < DEPTH; k += LANES) {
        put(to, from, more);
        put(to + LANES, from + LANES, more);
        put(to + LANES * 2, from + LANES * 2, more);
        put(to + LANES * 3, from + LANES * 3, more);
        put(to + LANES * 4, from + LANES * 4, more);
        put(to + LANES * 5, from + LANES * 5, more);
        put(to + LANES * 6, from + LANES * 6, more);
        put(to + LANES * 7, from + LANES * 7, more);
        put(to + LANES * 8, from + LANES * 8, more);
        put(to + LANES * 9, from + LANES * 9, more);
        put(to + LANES * 10, from + LANES * 10, more);
        put(to + LANES * 11, from + LANES * 11, more);
        to += LANES * COLUMNS;
        from += LANES * COLUMNS;
    }
}

static inline __m128 add(__m128 sum, __m128 a, float b) { return _mm_add_ps(sum, _mm_mul_ps(a, _mm_set1_ps(b))); }

__attribute__((noinline)) static __m128 multiply(const float *a, const float *b) {
    __m128 s0 = _mm_setzero_ps(), s1 = s0, s2 = s0, s3 = s0, s4 = s0, s5 = s0, s6 = s0, s7 = s0, s8 = s0, s9 = s0;
    __m128 s10 = s0, s11 = s0;
    for (long k = 0; k < DEPTH; k++) {
        __m128 column = _mm_loadu_ps(a);
        s0 = add(s0, column, b[0]);
        s1 = add(s1, column, b[1]);
        s2 = add(s2, column, b[2]);
        s3 = add(s3, column, b[3]);
        s4 = add(s4, column, b[4]);
        s5 = add(s5, column, b[5]);
        s6 = add(s6, column, b[6]);
        s7 = add(s7, column, b[7]);
        s8 = add(s8, column, b[8]);
        s9 = add(s9, column, b[9]);
        s10 = add(s10, column, b[10]);
        s11 = add(s11, column, b[11]);
        a += ROWS;
        b += COLUMNS;
    }
    s0 = _mm_add_ps(_mm_add_ps(s0, s1), _mm_add_ps(s2, s3));
    s4 = _mm_add_ps(_mm_add_ps(s4, s5), _mm_add_ps(s6, s7));
    s8 = _mm_add_ps(_mm_add_ps(s8, s9), _mm_add_ps(s10, s11));
    return _mm_add_ps(_mm_add_ps(s0, s4), s8);
}

static void fill(int me, long round) {
    for (long i = 0; i < each; i++) pack(panel(me * each + i), source, (float)(round % 3));
    for (long k = 0; k < ROWS * DEPTH; k++) left[me * ROWS * DEPTH + k] = 1;
}

static double use(int me) {
    __m128 sum = _mm_setzero_ps();
    for (int again = 0; again < 8; again++)
        for (long i = 0; i < each; i++) sum = _mm_add_ps(sum, multiply(left + me * ROWS * DEPTH, panel(next(me) * each + i)));
    return _mm_cvtss_f32(sum);
}
