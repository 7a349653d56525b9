/* Small dense pieces: blocks of a few numbers, often behind pointers. */
#include "pattern.h"

#if defined(FIVE)
/* Products of 5 x 5 blocks with vectors of 5. */
typedef struct { double m[5][5]; double v[5]; } Item;
static inline void set(Item *s, long i) {
    for (int r = 0; r < 5; r++) {
        s->v[r] = i % 3 + r;
        for (int c = 0; c < 5; c++) s->m[r][c] = r + c * i % 5;
    }
}
static inline double get(const Item *s) {
    double sum = 0;
    for (int r = 0; r < 5; r++) {
        double row = 0;
        for (int c = 0; c < 5; c++) row += s->m[r][c] * s->v[c];
        sum += row * row;
    }
    return sum;
}
#elif defined(POINTERS)
/* Matrices of 3 x 11 behind row pointers. */
typedef struct { double **rows; } Item;
static inline void set(Item *s, long i) {
    if (!s->rows) {
        s->rows = zeroed(3 * sizeof(double *));
        for (int r = 0; r < 3; r++) s->rows[r] = zeroed(11 * sizeof(double));
    }
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 11; c++) s->rows[r][c] = i % 5 + r * c;
}
static inline double get(const Item *s) {
    double sum = 0;
    for (int c = 0; c < 11; c++)
        for (int r = 0; r < 3; r++) sum += s->rows[r][c] * (c + 1);
    return sum;
}
#elif defined(VECTORS)
/* Squared distances of vectors of 32 behind pointers. */
typedef struct { float *x; float weight; } Item;
static inline void set(Item *s, long i) {
    if (!s->x) s->x = zeroed(32 * sizeof(float));
    s->weight = i % 3;
    for (int k = 0; k < 32; k++) s->x[k] = (i + k) % 17;
}
static inline double get(const Item *s) {
    float sum = 0;
    for (int k = 0; k < 32; k++) sum += (s->x[k] - k) * (s->x[k] - k);
    return sum * s->weight;
}
#elif defined(FORMULA)
/* Straight code over a few parameters. */
typedef struct { float spot, strike, rate, volatility, time; int put; } Item;
static inline void set(Item *s, long i) {
    s->spot = 40 + i % 7, s->strike = 42, s->rate = .03f, s->volatility = .2f, s->time = .5f, s->put = i & 1;
}
static inline double get(const Item *s) {
    float d = (s->spot / s->strike - 1 + s->rate * s->time) / (s->volatility + s->time);
    float k = 1 / (1 + .2316419f * (d < 0 ? -d : d));
    float p = k * (.31938153f + k * (-.356563782f + k * (1.781477937f + k * -1.821255978f)));
    return s->put ? s->strike * p : s->spot * (1 - p);
}
#elif defined(BUTTERFLY)
/* One transform of 16 numbers in place. */
typedef struct { double re[16], im[16]; } Item;
static inline void set(Item *s, long i) { for (int k = 0; k < 16; k++) s->re[k] = (i + k) % 5, s->im[k] = k; }
static inline double get(const Item *s) {
    double re[16], im[16];
    for (int k = 0; k < 16; k++) re[k] = s->re[k], im[k] = s->im[k];
    for (int half = 8; half > 0; half /= 2)
        for (int k = 0; k < 16; k += 2 * half)
            for (int j = k; j < k + half; j++) {
                double r = re[j] - re[j + half], m = im[j] - im[j + half];
                re[j] += re[j + half], im[j] += im[j + half];
                re[j + half] = r * .75 - m * .5, im[j + half] = r * .5 + m * .75;
            }
    return re[1] + im[15];
}
#endif

#include "items.h"
