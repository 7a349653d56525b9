// Loops that call functions with loops of their own. Worker 1 writes, worker 2 reads: rows again and again by a
// function that only computes, called in a nest and outside of one, and by another one beside it; by halves, by a
// function that calls itself; rows of which the calling loop, or another function that it calls, has overwritten some;
// and rows that worker 1 writes anew in each turn, where the function that reads them waits or locks.
// THREADS: 3
// LET: R = 24
// LET: C = 32
// LET: T = 20
// EXPECT: raw lines written -> summed = 2 * R * C
// EXPECT: rar lines written -> summed = 2 * R * C * (T - 1) + 2 * C
// EXPECT: raw lines written -> compared = 0
// EXPECT: rar lines written -> compared = 2 * R * C * T
// EXPECT: raw lines halved -> leaf = 2 * R * C
// EXPECT: rar lines halved -> leaf = 2 * R * C * (T - 1)
// EXPECT: raw lines changing -> summed = 2 * R * C
// EXPECT: rar lines changing -> summed = 2 * ((T - 1) * R * C - T * (T - 1) / 2)
// EXPECT: rar lines changed -> summed = 0
// EXPECT: raw lines replacing -> summed = 2 * R * C
// EXPECT: rar lines replacing -> summed = 0
// EXPECT: rar lines replaced -> summed = 0
// EXPECT: raw lines turned -> awaited = 2 * C * T
// EXPECT: rar lines turned -> awaited = 2 * C * T
// EXPECT: raw lines turned -> locked = 2 * C * T
// EXPECT: rar lines turned -> locked = 2 * C * T
#include "team.h"
#include <semaphore.h>

enum { ROWS = 24, COLUMNS = 32, TIMES = 20 };
// Rows are followed by an element of the reader's, so that no call can be moved out of its loop.
static double table[ROWS][COLUMNS + 1], halves[ROWS][COLUMNS + 1];
static double changing[ROWS][COLUMNS], replaced[ROWS][COLUMNS];
static double turns[COLUMNS], places[COLUMNS];
static pthread_barrier_t all;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static sem_t asked, given;
static volatile double sink;

static NOINLINE void fill(long rows, long columns) {
    for (long i = 0; i < rows; i++)
        for (long j = 0; j < columns; j++) {
            table[i][j] = 1;    /*@written*/
            halves[i][j] = 2;   /*@halved*/
            changing[i][j] = 3; /*@changing*/
            replaced[i][j] = 4; /*@replacing*/
        }
}

static NOINLINE double sum(const double *row, long n) {
    double s = 0;
    for (long j = 0; j < n; j++)
        s += row[j]; /*@summed*/
    return s;
}

static NOINLINE double largest(const double *row, long n) {
    double most = 0;
    for (long j = 0; j < n; j++) {
        const double element = row[j]; /*@compared*/
        most = element > most ? element : most;
    }
    return most;
}

static NOINLINE double sum_by_halves(const double *row, long n) {
    double s = 0;
    if (n > 8)
        return sum_by_halves(row, n / 2) + sum_by_halves(row + n / 2, n - n / 2);
    for (long j = 0; j < n; j++)
        s += row[j]; /*@leaf*/
    return s;
}

static NOINLINE void replace(double *row, long n) {
    for (long j = 0; j < n; j++)
        row[j] = 5; /*@replaced*/
}

static NOINLINE double wait_and_sum(const double *row, long n) {
    double s = 0;
    sem_post(&asked);
    sem_wait(&given);
    for (long j = 0; j < n; j++)
        s += row[j]; /*@awaited*/
    return s;
}

static NOINLINE double lock_and_sum(const double *row, long n, int awaits) {
    double s = 0;
    for (int awaited = !awaits; !awaited;) {
        pthread_mutex_lock(&mutex);
        awaited = sem_trywait(&given) == 0;
        pthread_mutex_unlock(&mutex);
    }
    for (long j = 0; j < n; j++)
        s += row[j]; /*@locked*/
    return s;
}

static NOINLINE double read_all(long rows, long columns, long times) {
    double s = 0;
    for (long time = 0; time < times; time++)
        for (long i = 0; i < rows; i++)
            table[i][columns] = sum(table[i], columns) + largest(table[i], columns);
    s += sum(table[0], columns);
    for (long time = 0; time < times; time++)
        for (long i = 0; i < rows; i++)
            halves[i][columns] = sum_by_halves(halves[i], columns);
    return s;
}

static NOINLINE double change(long rows, long columns, long times) {
    double s = 0;
    for (long time = 0; time < times; time++) {
        for (long i = 0; i < rows; i++)
            s += sum(changing[i], columns);
        changing[time][time] = s; /*@changed*/
    }
    for (long time = 0; time < times; time++)
        for (long i = 0; i < rows; i++) {
            s += sum(replaced[i], columns);
            replace(replaced[i], columns);
            s += sum(replaced[i], columns);
        }
    return s;
}

static NOINLINE double take_turns(long columns, long times) {
    double s = 0;
    for (long time = 0; time < times; time++) {
        s += wait_and_sum(turns, columns);
        sem_post(&given);
        s += wait_and_sum(turns, columns);
        s += lock_and_sum(places, columns, 1) + lock_and_sum(places, columns, 0);
    }
    return s;
}

static NOINLINE void give_turns(long columns, long times) {
    for (long time = 0; time < times; time++) {
        sem_wait(&asked);
        for (long j = 0; j < columns; j++)
            turns[j] = places[j] = (double)time; /*@turned*/
        sem_post(&given);
        sem_wait(&asked);
        pthread_mutex_lock(&mutex);
        sem_post(&given);
        pthread_mutex_unlock(&mutex);
    }
}

static void *work(void *argument) {
    if ((intptr_t)argument == 1)
        fill(ROWS, COLUMNS);
    pthread_barrier_wait(&all);
    if ((intptr_t)argument == 1)
        give_turns(COLUMNS, TIMES);
    else
        sink = read_all(ROWS, COLUMNS, TIMES) + change(ROWS, COLUMNS, TIMES) + take_turns(COLUMNS, TIMES);
    return NULL;
}

int main(void) {
    pthread_barrier_init(&all, NULL, 2);
    sem_init(&asked, 0, 0);
    sem_init(&given, 0, 0);
    team(2, work);
    return 0;
}
