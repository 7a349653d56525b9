// Tiles of a matrix, packed by twelve lines that write four or eight numbers each, and read by twelve lines of which each
// reads one of a row: no line sees one state for long, and all come again after 48 numbers or 96.
// THREADS: 2
// LET: DEPTH = 240
// LET: TILES = 5
// LET: ROUNDS = 7
// LET: READ = 12 * DEPTH * TILES * 2
// EXPECT: raw = READ if w == 0 && r == 1
// EXPECT: rar = READ * (ROUNDS - 1) if w == 0 && r == 1
// LEVELS: O0, O1, O2, O3 -mavx2
#include "team.h"
#include <xmmintrin.h>

enum { COLUMNS = 12, DEPTH = 240, TILES = 5, ROUNDS = 7 };

static float four[TILES][COLUMNS * DEPTH], eight[TILES][COLUMNS * DEPTH];

#define EACH(line) line(0) line(1) line(2) line(3) line(4) line(5) line(6) line(7) line(8) line(9) line(10) line(11)

static NOINLINE void pack(float *to, float *wide) {
    for (int k = 0; k < DEPTH; k += 8) {
        __m128 v = _mm_set1_ps(k);
        _mm_storeu_ps(wide, v), _mm_storeu_ps(wide + 4, v), _mm_storeu_ps(to, v), _mm_storeu_ps(to + 48, v);
        _mm_storeu_ps(wide + 8, v), _mm_storeu_ps(wide + 12, v), _mm_storeu_ps(to + 4, v), _mm_storeu_ps(to + 52, v);
        _mm_storeu_ps(wide + 16, v), _mm_storeu_ps(wide + 20, v), _mm_storeu_ps(to + 8, v), _mm_storeu_ps(to + 56, v);
        _mm_storeu_ps(wide + 24, v), _mm_storeu_ps(wide + 28, v), _mm_storeu_ps(to + 12, v), _mm_storeu_ps(to + 60, v);
        _mm_storeu_ps(wide + 32, v), _mm_storeu_ps(wide + 36, v), _mm_storeu_ps(to + 16, v), _mm_storeu_ps(to + 64, v);
        _mm_storeu_ps(wide + 40, v), _mm_storeu_ps(wide + 44, v), _mm_storeu_ps(to + 20, v), _mm_storeu_ps(to + 68, v);
        _mm_storeu_ps(wide + 48, v), _mm_storeu_ps(wide + 52, v), _mm_storeu_ps(to + 24, v), _mm_storeu_ps(to + 72, v);
        _mm_storeu_ps(wide + 56, v), _mm_storeu_ps(wide + 60, v), _mm_storeu_ps(to + 28, v), _mm_storeu_ps(to + 76, v);
        _mm_storeu_ps(wide + 64, v), _mm_storeu_ps(wide + 68, v), _mm_storeu_ps(to + 32, v), _mm_storeu_ps(to + 80, v);
        _mm_storeu_ps(wide + 72, v), _mm_storeu_ps(wide + 76, v), _mm_storeu_ps(to + 36, v), _mm_storeu_ps(to + 84, v);
        _mm_storeu_ps(wide + 80, v), _mm_storeu_ps(wide + 84, v), _mm_storeu_ps(to + 40, v), _mm_storeu_ps(to + 88, v);
        _mm_storeu_ps(wide + 88, v), _mm_storeu_ps(wide + 92, v), _mm_storeu_ps(to + 44, v), _mm_storeu_ps(to + 92, v);
        to += 96, wide += 96;
    }
}

static NOINLINE float multiply(const float *b) {
    __m128 s0 = _mm_setzero_ps(), s1 = s0, s2 = s0, s3 = s0, s4 = s0, s5 = s0, s6 = s0, s7 = s0, s8 = s0, s9 = s0, s10 = s0, s11 = s0;
    for (int k = 0; k < DEPTH; k++) {
        s0 = _mm_add_ps(s0, _mm_set1_ps(b[0]));
        s1 = _mm_add_ps(s1, _mm_set1_ps(b[1]));
        s2 = _mm_add_ps(s2, _mm_set1_ps(b[2]));
        s3 = _mm_add_ps(s3, _mm_set1_ps(b[3]));
        s4 = _mm_add_ps(s4, _mm_set1_ps(b[4]));
        s5 = _mm_add_ps(s5, _mm_set1_ps(b[5]));
        s6 = _mm_add_ps(s6, _mm_set1_ps(b[6]));
        s7 = _mm_add_ps(s7, _mm_set1_ps(b[7]));
        s8 = _mm_add_ps(s8, _mm_set1_ps(b[8]));
        s9 = _mm_add_ps(s9, _mm_set1_ps(b[9]));
        s10 = _mm_add_ps(s10, _mm_set1_ps(b[10]));
        s11 = _mm_add_ps(s11, _mm_set1_ps(b[11]));
        b += COLUMNS;
    }
#define ADD(n) s0 = _mm_sub_ps(s0, s##n);
    EACH(ADD)
    return _mm_cvtss_f32(s0);
}

static void *work(void *unused) {
    for (int round = 0; round < ROUNDS; round++)
        for (int i = 0; i < TILES; i++)
            USE(multiply(four[i]) > multiply(eight[i]));
    return unused;
}

int main(void) {
    for (int i = 0; i < TILES; i++)
        pack(four[i], eight[i]);
    one(work, NULL);
    return 0;
}
