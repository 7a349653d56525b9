// REFUSE: false-sharing
// THREADTALK: memory,control
// A table of hashes that all threads fill under locks: no thread has a part of its own, and what one puts in a slot the
// others read in another function, where they look for a place.
#include "team.h"

#define T 4
#define N (1 << 14)
#define LOCKS 64

static unsigned table[N];
static pthread_mutex_t locks[LOCKS];

static NOINLINE unsigned probe(unsigned at) {
    unsigned found = 0;
    for (int k = 0; k < 8; k++)
        found += table[(at + k) % N];
    return found;
}

static void *work(void *argument) {
    unsigned found = 0;
    for (unsigned i = (intptr_t)argument; i < 8 * N; i += T) {
        unsigned at = i * 2654435761u % N;
        pthread_mutex_lock(&locks[at % LOCKS]);
        found += probe(at);
        table[at] = i;
        pthread_mutex_unlock(&locks[at % LOCKS]);
    }
    USE(found);
    return NULL;
}

int main(void) {
    for (int i = 0; i < LOCKS; i++)
        pthread_mutex_init(&locks[i], NULL);
    team(T, work);
    return 0;
}
