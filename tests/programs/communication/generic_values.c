// Values of a size that only the running program knows, as libraries for any type handle them: each is copied to an array of variable
// length on the stack and back. Thread 1 writes all, thread 2 copies each twice, then overwrites it, and thread 3 copies the new ones.
// Thread 4 writes into such an array of the first thread, which reads it; the next one in its place was never written.
// THREADS: 5
// LET: N = 500
// LET: WIDTH = 3
// EXPECT: raw = N * WIDTH if (w == 1 && r == 2) || (w == 2 && r == 3); WIDTH if w == 4 && r == 0
// EXPECT: rar = N * WIDTH if w == 1 && r == 2
#include "team.h"
#include <string.h>

enum { N = 500, WIDTH = 3 };
static volatile long width = WIDTH;
static int values[N * WIDTH];

/* The compiler does not see what becomes of it. */
static NOINLINE void step(int *value, long count) {
    for (long k = 0; k < count; k++)
        value[k]++;
}

static void *give(void *unused) {
    long count = width;
    for (long i = 0; i < N; i++) {
        int value[count];
        for (long k = 0; k < count; k++)
            value[k] = (int)(i + k);
        step(value, count);
        memcpy(values + i * count, value, count * sizeof *value);
    }
    return unused;
}

static void *change(void *unused) {
    long count = width;
    for (long i = 0; i < N; i++) {
        int value[count], again[count];
        memcpy(value, values + i * count, count * sizeof *value);
        step(value, count);
        memcpy(again, values + i * count, count * sizeof *value);
        step(again, count);
        memcpy(values + i * count, value, count * sizeof *value);
        /* Its own. */
        memcpy(again, values + i * count, count * sizeof *value);
        USE(again[0]);
    }
    return unused;
}

static void *take(void *unused) {
    long count = width;
    for (long i = 0; i < N; i++) {
        int value[count];
        memcpy(value, values + i * count, count * sizeof *value);
        step(value, count);
        USE(value[count - 1]);
    }
    return unused;
}

static void *fill(void *room) {
    long count = width;
    for (long k = 0; k < count; k++)
        ((volatile int *)room)[k] = (int)k;
    return NULL;
}

static NOINLINE void offer(int is_filled) {
    long count = width;
    volatile int room[count];
    if (is_filled)
        one(fill, (void *)room);
    for (long k = 0; k < count; k++)
        USE(room[k]);
}

int main(void) {
    one(give, NULL);
    one(change, NULL);
    one(take, NULL);
    offer(1);
    offer(0);
    return 0;
}
