// The three channels of a pixel are read at lines of their own, byte after byte: of three elements each line is the first to read one. Members of
// structures are read that way, too; the last one is not read at all. Loops like these are counted before they run, over and over: the first time
// true communication, then reuse.
// THREADS: 2
// LET: PIXELS = 4096
// LET: POINTS = 1000
// LET: TIMES = 3
// EXPECT: raw lines bytes -> red = PIXELS / 4
// EXPECT: raw lines bytes -> green = PIXELS / 4
// EXPECT: raw lines bytes -> blue = PIXELS / 4
// EXPECT: rar lines bytes -> red = TIMES * PIXELS - PIXELS / 4
// EXPECT: rar lines bytes -> green = TIMES * PIXELS - PIXELS / 4
// EXPECT: rar lines bytes -> blue = TIMES * PIXELS - PIXELS / 4
// EXPECT: raw lines points -> x = 2 * POINTS
// EXPECT: rar lines points -> x = 2 * (TIMES - 1) * POINTS
// EXPECT: raw lines points -> kind = POINTS
// EXPECT: rar lines points -> kind = (TIMES - 1) * POINTS
// EXPECT: rar lines points -> flag = TIMES * POINTS
#include "team.h"

enum { PIXELS = 4096, POINTS = 1000, TIMES = 3 };
struct point {
    double x;
    int16_t kind;
    int8_t flag;
    int32_t unread;
};
static unsigned char bytes[3 * PIXELS] __attribute__((aligned(4)));
static struct point points[POINTS];
static int32_t red[256], green[256], blue[256];

static NOINLINE void count(const unsigned char *from) {
    for (long i = 0; i < 3 * PIXELS; i += 3) {
        red[from[i]]++;       /*@red*/
        green[from[i + 1]]++; /*@green*/
        blue[from[i + 2]]++;  /*@blue*/
    }
}

static NOINLINE double sum(const struct point *all) {
    double sum = 0;
    for (long i = 0; i < POINTS; i++) {
        sum += all[i].x;    /*@x*/
        sum += all[i].kind; /*@kind*/
        sum -= all[i].flag; /*@flag*/
    }
    return sum;
}

static double total;

static void *work(void *me) {
    for (int time = 0; time < TIMES; time++) {
        count(bytes);
        total += sum(points);
    }
    return me;
}

int main(void) {
    for (int i = 0; i < 3 * PIXELS; i++)
        bytes[i] = i * 7 % 256; /*@bytes*/
    for (int i = 0; i < POINTS; i++)
        points[i] = (struct point){i, 1, 2, 3}; /*@points*/
    team(1, work);
    return total == 0;
}
