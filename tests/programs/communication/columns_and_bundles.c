// Members of structures, some of each row: as columns they are counted by whole loops, and where a sample of their
// distances is due by bundles. What bundles have counted is told when a sample begins, also one in a whole loop.
// THREADS: 9
// LET: READERS = 8
// LET: TIMES = 200
// LET: SIZE = 21
// LET: PART = 13
// EXPECT: raw lines filled -> heights = READERS * 2 * SIZE * PART
// EXPECT: rar lines filled -> heights = READERS * 2 * SIZE * PART * (TIMES * SIZE - 1)
// EXPECT: raw lines filled -> widths = READERS * 2 * (2 * SIZE - 1) * PART
// EXPECT: rar lines filled -> widths = READERS * 2 * PART * (TIMES * SIZE * SIZE - 2 * SIZE + 1)
#include "team.h"

enum { READERS = 8, TIMES = 200, SIZE = 21, PART = 13, ROW = 33, ALL = 4 * SIZE * ROW };
struct box { double width, depth, height; };
static struct box boxes[ALL];
static volatile long size = SIZE;

static NOINLINE long sum_of(struct box *box, long n) {
    double all = 0;
    for (long i = 0; i < n; i++)
        for (long j = 0; j < n; j++) {
            double heights = 0, widths = 0;
            for (long k = 0; k < PART; k++)
                heights += box[1 + (2 * ROW - 2) * j + k].height; /*@heights*/
            all += heights > -1000 && heights < 1000 ? heights : 7;
            for (long k = 0; k < PART; k++)
                widths += box[1 + ROW * (i + j) + k].width; /*@widths*/
            all += widths > -1000 && widths < 1000 ? widths : 7;
        }
    return (long)all;
}

static void *work(void *me) {
    long all = 0;
    for (int time = 0; time < TIMES; time++)
        all += sum_of(boxes, size);
    USE(all);
    return me;
}

int main(void) {
    for (int i = 0; i < ALL; i++)
        boxes[i].width = boxes[i].depth = boxes[i].height = i % 7; /*@filled*/
    team(READERS, work);
    return 0;
}
