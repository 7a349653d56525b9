// Lines of one loop that write the same elements: each element keeps the line that wrote it last, whatever is counted as
// a whole. Worker 1 writes, worker 2 reads.
//
// THREADS: 3
// LET: N = 96
// EXPECT: raw lines here -> read = 2 * N
// EXPECT: raw lines ahead -> read = 2
// EXPECT: raw lines down -> read = 2 * N
// EXPECT: raw lines below -> read = 2
// EXPECT: raw lines one -> read = 2 * N
// EXPECT: raw lines other -> read = 2 * (N - N / 4)
// EXPECT: raw lines whole -> look = 2 * 2 * N
// EXPECT: raw lines member -> look = 2 * N
// LEVELS: O0, O1, O2, O3
#include "team.h"

enum { N = 96 };
static double elements[3][4 * N];
static pthread_barrier_t written;

static NOINLINE void upwards(double *to, long n) {
    for (long i = 0; i < n; i++) {
        to[i] = (double)i; /*@here*/
        to[i + 1] = 0.5;   /*@ahead*/
    }
}

static NOINLINE void downwards(double *to, long n) {
    for (long i = n; i > 0; i--) {
        to[i] = (double)i; /*@down*/
        to[i - 1] = 0.5;   /*@below*/
    }
}

// The second pointer leads into the second half of what the first line writes, for all that the compiler knows anywhere.
static NOINLINE void strided(double *to, double *also, long n) {
    for (long i = 0; i < n; i++) {
        to[i] = (double)i;  /*@one*/
        also[2 * i] = 0.25; /*@other*/
    }
}

struct point {
    double x, y, z;
};
static struct point points[N];

// A structure, and what one of its members is after all.
static NOINLINE void initialise(struct point *to, long n, const struct point *initial) {
    for (long i = 0; i < n; i++) {
        to[i] = *initial;      /*@whole*/
        to[i].y = (double)i;   /*@member*/
    }
}

static NOINLINE double members(const struct point *of, long n) {
    double sum = 0;
    for (long i = 0; i < n; i++)
        sum += of[i].x + of[i].y + of[i].z; /*@look*/
    return sum;
}

static NOINLINE double sum(const double *of, long n) {
    double sum = 0;
    for (long i = 0; i < n; i++)
        sum += of[i]; /*@read*/
    return sum;
}

static void *work(void *worker) {
    if ((intptr_t)worker == 1) {
        upwards(elements[0], N);
        downwards(elements[1], N);
        struct point initial = {1, 2, 3};
        initialise(points, N, &initial);
        strided(elements[2], elements[2] + N / 2, N);
    }
    pthread_barrier_wait(&written);
    if ((intptr_t)worker == 2)
        for (int i = 0; i < 3; i++)
            USE((long)(sum(elements[i], 4 * N) + (i == 0 ? members(points, N) : 0)));
    return NULL;
}

int main(void) {
    pthread_barrier_init(&written, NULL, 2);
    team(2, work);
    return 0;
}
