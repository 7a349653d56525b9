// Structures and rows that are read from the last to the first: a chain from its end, a pair of numbers on its way up and down, three floats of
// which two are read. Loops like these are counted before they run, piece by piece from the end.
// THREADS: 2
// LET: N = 3001
// LET: TIMES = 4
// EXPECT: raw lines place -> x = 2 * N
// EXPECT: raw lines place -> z = 2 * N
// EXPECT: raw lines charge -> q = N
// EXPECT: rar lines place -> x = 2 * (TIMES - 1) * N
// EXPECT: rar lines place -> z = 2 * (TIMES - 1) * N
// EXPECT: rar lines charge -> q = (TIMES - 1) * N
// EXPECT: raw lines mine -> read = 0
// EXPECT: raw lines first -> up = 2 * N
// EXPECT: raw lines second -> up = 2 * N
// EXPECT: rar lines first -> down = 2 * TIMES * N
// EXPECT: rar lines second -> down = 2 * TIMES * N
// EXPECT: rar lines first -> up = 2 * (TIMES - 1) * N
// EXPECT: rar lines second -> up = 2 * (TIMES - 1) * N
// EXPECT: raw lines sides -> floats = 2 * N
// EXPECT: rar lines sides -> floats = 2 * (TIMES - 1) * N
#include "team.h"

enum { N = 3001, TIMES = 4 };
struct body {
    double x, y, z, mass;
    float q, unread;
};
static struct body bodies[N];
static struct { long key, next; } pairs[N];
static struct { float left, middle, right; } floats[N];
static double total;
// Loops of a known length are unrolled, with their exit in the middle.
static volatile long length = N;

static NOINLINE void energy(const struct body *all, long n) {
    double sum = 0;
    for (long i = n - 1; i >= 0; i--) {
        sum += all[i].x;    /*@x*/
        sum += all[i].mass; /*@read*/
        sum += all[i].z;    /*@z*/
        sum += all[i].q;    /*@q*/
    }
    total += sum;
}

static NOINLINE void both_ways(long n) {
    long sum = 0;
    for (long i = 0; i < n; i++)
        sum += pairs[i].key + pairs[i].next; /*@up*/
    total += sum;
    for (long i = n - 1; i >= 0; i--)
        sum += pairs[i].key * 3 + pairs[i].next; /*@down*/
    total += sum;
}

static NOINLINE void outer(long n) {
    float sum = 0;
    for (long i = n - 1; i >= 0; i--)
        sum += floats[i].left - floats[i].right; /*@floats*/
    total += sum;
}

static void *work(void *me) {
    for (int i = 0; i < N; i++)
        bodies[i].mass = i; /*@mine*/
    for (int time = 0; time < TIMES; time++) {
        energy(bodies, length);
        both_ways(length);
        outer(length);
    }
    return me;
}

int main(void) {
    for (int i = 0; i < N; i++) {
        bodies[i].x = i, bodies[i].y = 1, bodies[i].z = 2; /*@place*/
        bodies[i].q = 1;                                   /*@charge*/
        pairs[i].key = i;                                  /*@first*/
        pairs[i].next = -i;                                /*@second*/
        floats[i].left = i, floats[i].right = 2;           /*@sides*/
    }
    team(1, work);
    return total == 0;
}
