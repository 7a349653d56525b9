// Gathers beside writes of the same type, which may be of what is gathered: through pointers, once into another array,
// once into the very array, where an element that lies behind has been written by then and one that lies ahead has not.
// Worker 1 writes all, worker 2 reads it. The places that say what is gathered are of another type.
// THREADS: 3
// LET: N = 1024
// EXPECT: raw lines values -> apart = 2 * N
// EXPECT: rar lines values -> apart = 0
// EXPECT: raw lines moving -> meeting = N
// EXPECT: rar lines moving -> meeting = 0
// EXPECT: raw lines places -> apart = 2 * N
// EXPECT: raw lines places -> meeting = 0
// EXPECT: rar lines places -> meeting = 2 * N
// LEVELS: O0, O2, O3, O3 -mavx2
#include "team.h"

enum { N = 1024 };
static double values[N], moving[N], others[N];
static long places[N];
static pthread_barrier_t written;

static NOINLINE void fill(long n) {
    for (long e = 0; e < n; e++) {
        values[e] = 1;         /*@values*/
        moving[e] = 2;         /*@moving*/
        places[e] = n - 1 - e; /*@places*/
    }
}

static NOINLINE void write_apart(double *to, const double *from, const long *place, long n) {
    for (long e = 0; e < n; e++)
        to[e] = from[place[e]]; /*@apart*/
}

static NOINLINE void write_meeting(double *to, const double *from, const long *place, long n) {
    for (long e = 0; e < n; e++)
        to[e] = from[place[e]]; /*@meeting*/
}

static void *work(void *argument) {
    intptr_t worker = (intptr_t)argument;
    if (worker == 1)
        fill(N);
    pthread_barrier_wait(&written);
    if (worker == 2) {
        write_apart(others, values, places, N);
        write_meeting(moving, moving, places, N);
        USE(others);
    }
    return NULL;
}

int main(void) {
    pthread_barrier_init(&written, NULL, 2);
    team(2, work);
    return 0;
}
