// Misses of the modelled caches by site, of the run and of each phase: a direct-mapped first level of 4 lines, a share of
// the last level of 16 lines in 4 ways.
// flags: -DCOUNTERS=1 -DSITES=4
// environment: THREADTALK_OPTIONS=quiet=1:l1_bytes=256:l1_ways=1:llc_bytes=1024:llc_ways=4:cache_line=64
// linkage: archive
// profile: cacheaccess 1 id 1: 22
// profile: firstlevelmiss 1 id 1: 6
// profile: lastlevelmiss 1 id 1: 6
// profile: cacheaccess 1 id 2: 20
// profile: firstlevelmiss 1 id 2: 20
// profile: lastlevelmiss 1 id 2: 2
// profile: part join thread 1 id 1: 34
// profile: part barrier thread 1 id 1: 34
// profile: part barrier thread 1 id 2: 42
#include "counters.h"
#include <pthread.h>

__attribute__((preserve_most)) extern void __threadtalk_cache(void *, uint32_t, uint32_t);

static _Alignas(4096) char memory[4096];
static pthread_barrier_t alone;

static void *work(void *unused) {
    for (int i = 0; i < 10; i++) // one line, again and again: 1 miss
        __threadtalk_cache(memory, 8, 1);
    // From the middle of one line to that of the sixth: 5 more lines, the first is there.
    __threadtalk_cache(memory + 32, 320 | 1u << 31, 1);
    for (int i = 0; i < 6; i++) // the last line
        __threadtalk_cache(memory + 320, 4, 1);
    pthread_barrier_wait(&alone);
    for (int i = 0; i < 10; i++) { // two lines in one place of the first level: each time a miss there
        __threadtalk_cache(memory + 1024, 8, 2);
        __threadtalk_cache(memory + 2048, 8, 2);
    }
    return unused;
}

int main(void) {
    pthread_t thread;
    pthread_barrier_init(&alone, NULL, 1);
    pthread_create(&thread, NULL, work, NULL);
    pthread_join(thread, NULL);
    return 0;
}
