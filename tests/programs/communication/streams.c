// Workers 1 and 2 write blocks of an array by turns, and all three workers read it from end to end, three times: twice to count
// values (in a table of their own, at addresses that the values say), then as a sum. Each first read is communication, whatever the
// lengths of the runs that one thread wrote.
// THREADS: 4
// LET: N = 35000
// LEVELS: O0, O2, O3, O3 -mavx2
// EXPECT: raw = N if (w == 1 || w == 2) && r > 0 && r != w
// EXPECT: rar = 2 * N if (w == 1 || w == 2) && r > 0 && r != w
// EXPECT: raw lines keys -> counted = 4 * N
// EXPECT: rar lines keys -> counted = 4 * N
// EXPECT: rar lines keys -> summed = 4 * N
#include "team.h"

enum { WORKERS = 3, LENGTH = 70000, BLOCK = 700, BUCKETS = 64 };
static unsigned keys[LENGTH];
static pthread_barrier_t all;

static NOINLINE void write_blocks(long first) {
    for (long block = first; block < LENGTH / BLOCK; block += 2)
        for (long i = 0; i < BLOCK; i++)
            keys[block * BLOCK + i] = (unsigned)(block * 31 + i * 7); /*@keys*/
}

static NOINLINE void histogram(const unsigned *from, long length, long *count) {
    for (long i = 0; i < length; i++)
        count[from[i] % BUCKETS]++; /*@counted*/
}

static NOINLINE unsigned sum(const unsigned *from, long length) {
    unsigned result = 0;
    for (long i = 0; i < length; i++)
        result += from[i]; /*@summed*/
    return result;
}

static void *work(void *argument) {
    long self = (intptr_t)argument, count[BUCKETS] = {0};
    if (self <= 2)
        write_blocks(self - 1);
    pthread_barrier_wait(&all);
    histogram(keys, LENGTH, count);
    histogram(keys, LENGTH, count);
    USE(sum(keys, LENGTH));
    long counted = 0;
    for (int i = 0; i < BUCKETS; i++)
        counted += count[i];
    if (counted != 2 * LENGTH)
        abort();
    return NULL;
}

int main(void) {
    pthread_barrier_init(&all, NULL, WORKERS);
    team(WORKERS, work);
    return 0;
}
