// Nests over small blocks, whose rows are read again and again. Worker 1 writes all; worker 2 reads rows and columns
// for a product, a triangle with an empty row, rows backwards, and rows that it overwrites between two reads of all:
// what it reads of those after that is its own.
// THREADS: 3
// LET: N = 48
// LET: T = 40
// LEVELS: O0, O2, O3, O3 -mavx2
// EXPECT: raw = 4 * N * N + N * (N - 1) + 4 * N * N if w == 1 && r == 2
// EXPECT: raw lines written -> factors = 2 * N * N
// EXPECT: rar lines written -> factors = 0
// EXPECT: raw lines written -> products = 2 * N * N
// EXPECT: rar lines written -> products = 2 * N * N * (N - 1)
// EXPECT: raw lines triangle -> below = N * (N - 1)
// EXPECT: rar lines triangle -> below = N * (N - 1) * (T - 1)
// EXPECT: raw lines mirrored -> backwards = 2 * N * N
// EXPECT: rar lines mirrored -> backwards = 2 * N * N * (T - 1)
// EXPECT: raw lines changing -> changed = 2 * N * N
// EXPECT: rar lines changing -> changed = 2 * N * ((T - 1) * N - T * (T - 1) / 2)
// EXPECT: rar lines overwritten -> changed = 0
#include "team.h"

enum { ORDER = 48, TIMES = 40 };
static double left[ORDER][ORDER], right[ORDER][ORDER], result[ORDER][ORDER];
static double half[ORDER][ORDER], mirror[ORDER][ORDER], rows[ORDER][ORDER], sums[ORDER];
static pthread_barrier_t all;

static NOINLINE void fill(long n) {
    for (long i = 0; i < n; i++)
        for (long j = 0; j < n; j++) {
            left[i][j] = (double)i, right[j][i] = (double)j; /*@written*/
            half[i][j] = 1;   /*@triangle*/
            mirror[i][j] = 2; /*@mirrored*/
            rows[i][j] = 3;   /*@changing*/
        }
}

static NOINLINE void multiply(long n) {
    for (long i = 0; i < n; i++)
        for (long k = 0; k < n; k++) {
            double factor = left[i][k]; /*@factors*/
            for (long j = 0; j < n; j++)
                result[i][j] += factor * right[k][j]; /*@products*/
        }
}

static NOINLINE void add_triangle(long n, long times) {
    for (long time = 0; time < times; time++)
        for (long i = 0; i < n; i++)
            for (long j = 0; j < i; j++)
                sums[j] += half[i][j]; /*@below*/
}

static NOINLINE void add_backwards(long n, long times) {
    for (long time = 0; time < times; time++)
        for (long i = 0; i < n; i++)
            for (long j = n - 1; j >= 0; j--)
                sums[j] += mirror[i][j]; /*@backwards*/
}

static NOINLINE void change_rows(long n, long times) {
    for (long time = 0; time < times; time++) {
        for (long i = 0; i < n; i++)
            for (long j = 0; j < n; j++)
                sums[j] += rows[i][j]; /*@changed*/
        for (long j = 0; j < n; j++)
            rows[time][j] = 4; /*@overwritten*/
    }
}

static void *work(void *argument) {
    if ((intptr_t)argument == 1)
        fill(ORDER);
    pthread_barrier_wait(&all);
    if ((intptr_t)argument == 2) {
        multiply(ORDER);
        add_triangle(ORDER, TIMES);
        add_backwards(ORDER, TIMES);
        change_rows(ORDER, TIMES);
    }
    return NULL;
}

int main(void) {
    pthread_barrier_init(&all, NULL, 2);
    team(2, work);
    return 0;
}
