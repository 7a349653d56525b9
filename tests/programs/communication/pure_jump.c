// A loop that calls a function which only computes is left by a jump out of a signal handler, again and again: the last
// of its rows cannot be read. What the thread reads after the next turn of worker 1, which writes all rows anew, is
// new, although the nest never came to its end.
// THREADS: 3
// LET: R = 6
// LET: C = 32
// LET: T = 20
// EXPECT: raw lines written -> summed = 2 * R * C * T
// EXPECT: rar lines written -> summed = 2 * C * T
#include "team.h"
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>

enum { ROWS = 6, COLUMNS = 32, TIMES = 20 };
static double rows[ROWS][COLUMNS];
double sums[ROWS + 1];
static const double *places[ROWS + 1];
static sem_t written, read_by_all;
static sigjmp_buf back;

static void jump(int signal) { siglongjmp(back, signal); }

static NOINLINE double sum(const double *row, long n) {
    double s = 0;
    for (long j = 0; j < n; j++)
        s += row[j]; /*@summed*/
    return s;
}

static NOINLINE void sum_all(long count, long n) {
    for (long i = 0; i < count; i++)
        sums[i] = sum(places[i], n);
}

static NOINLINE void write_all(long count, long n, long value) {
    for (long i = 0; i < count; i++)
        for (long j = 0; j < n; j++)
            rows[i][j] = (double)value; /*@written*/
}

static NOINLINE void take_turn(long n) {
    sem_wait(&written);
    sums[0] = sum(rows[0], n);
    if (sigsetjmp(back, 1) == 0)
        sum_all(ROWS + 1, n);
    sem_post(&read_by_all);
}

static void *work(void *argument) {
    for (long time = 0; time < TIMES; time++)
        if ((intptr_t)argument == 1) {
            write_all(ROWS, COLUMNS, time);
            sem_post(&written);
            sem_wait(&read_by_all);
        } else {
            take_turn(COLUMNS);
        }
    return NULL;
}

int main(void) {
    for (long i = 0; i < ROWS; i++)
        places[i] = rows[i];
    places[ROWS] = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    sem_init(&written, 0, 0);
    sem_init(&read_by_all, 0, 0);
    signal(SIGSEGV, jump);
    team(2, work);
    return 0;
}
