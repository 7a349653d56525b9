// Blocks of a matrix that another thread wrote: of each row a piece, which the compiler reads as one, far from the next one. All of it is true
// communication the first time and reuse later. Of the last matrix every other row is the reader's own. Then two rows are combined to two others of
// the same array, as in a butterfly, by loops that are too short to be asked about one by one.
// THREADS: 2
// LET: ROWS = 64
// LET: BLOCKS = 4
// LET: WIDE = 16
// LET: TIMES = 3
// EXPECT: raw lines near -> first = 4 * ROWS * BLOCKS * WIDE
// EXPECT: rar lines near -> first = 4 * (TIMES - 1) * ROWS * BLOCKS * WIDE
// EXPECT: raw lines far -> second = 4 * ROWS * BLOCKS * WIDE
// EXPECT: rar lines far -> second = 4 * (TIMES - 1) * ROWS * BLOCKS * WIDE
// EXPECT: raw lines half -> third = 2 * ROWS * BLOCKS * WIDE
// EXPECT: rar lines half -> third = 2 * (TIMES - 1) * ROWS * BLOCKS * WIDE
// EXPECT: raw lines input -> combined = 4 * ROWS * WIDE
// EXPECT: rar lines input -> combined = 4 * (TIMES - 1) * ROWS * WIDE
// EXPECT: raw lines sum -> combined = 0
// EXPECT: raw lines difference -> combined = 0
#include "team.h"

enum { ROWS = 64, BLOCKS = 4, WIDE = 16, TIMES = 3, LEVELS = 6 };
struct number {
    double re, im;
};
static struct number near[ROWS][BLOCKS * WIDE + 1], far[ROWS][3000], half[ROWS][BLOCKS * WIDE + 1];
static struct number block[ROWS][WIDE], work_1[ROWS][WIDE], work_2[ROWS][WIDE], input[ROWS][WIDE];

static NOINLINE void first_block(int from) {
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < WIDE; j++)
            block[i][j] = near[i][from + j]; /*@first*/
}

static NOINLINE void second_block(int from) {
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < WIDE; j++)
            block[i][j] = far[i][from + j]; /*@second*/
}

static NOINLINE void third_block(int from) {
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < WIDE; j++)
            block[i][j] = half[i][from + j]; /*@third*/
}

static NOINLINE void butterflies(struct number (*x)[WIDE], struct number (*y)[WIDE], int level) {
    int count = 1 << (LEVELS - level), rows = 1 << (level - 1);
    for (int i = 0; i < count; i++)
        for (int k = 0; k < rows; k++)
            for (int j = 0; j < WIDE; j++) {
                struct number a = x[i * rows + k][j], b = x[i * rows + ROWS / 2 + k][j];                     /*@combined*/
                y[i * 2 * rows + k][j] = (struct number){a.re + b.re, a.im + b.im};                          /*@sum*/
                y[i * 2 * rows + rows + k][j] = (struct number){a.re - b.re + i, a.im - b.im - (double)rows}; /*@difference*/
            }
}

static void *work(void *me) {
    for (int i = 0; i < ROWS; i += 2)
        for (int j = 0; j <= BLOCKS * WIDE; j++)
            half[i][j] = (struct number){i, j};
    for (int time = 0; time < TIMES; time++) {
        for (int i = 0; i < BLOCKS; i++) {
            first_block(i * WIDE);
            second_block(i * WIDE);
            third_block(i * WIDE);
        }
        butterflies(input, work_1, 1);
        for (int level = 2; level <= LEVELS; level += 2) {
            butterflies(work_1, work_2, level);
            butterflies(work_2, work_1, level + 1 > LEVELS ? LEVELS : level + 1);
        }
    }
    return me;
}

int main(void) {
    for (int i = 0; i < ROWS; i++) {
        for (int j = 0; j <= BLOCKS * WIDE; j++) {
            near[i][j] = (struct number){i, j}; /*@near*/
            far[i][j] = (struct number){j, i};  /*@far*/
        }
        for (int j = 0; j < WIDE; j++)
            input[i][j] = (struct number){j, i}; /*@input*/
    }
    for (int i = 1; i < ROWS; i += 2)
        for (int j = 0; j <= BLOCKS * WIDE; j++)
            half[i][j] = (struct number){i, j}; /*@half*/
    team(1, work);
    return block[1][1].re + work_1[1][1].re == 0.5;
}
