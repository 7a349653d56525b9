// Destructors of thread-specific data run when the thread has ended its work, and read; one of them sets its key again, which
// gives it another round.
// LEVELS: O2
// THREADS: 3
// STDOUT: 2 rounds
// LET: N = 100
// EXPECT: raw in take = N if w == 1 && r == 2
// EXPECT: rar in take = N if w == 1 && r == 2
#include "handover.h"

static pthread_key_t key;
static int rounds;

static void destructor(void *value) {
    take(NULL);
    if (++rounds < 2)
        pthread_setspecific(key, value);
}

static void *set(void *unused) {
    pthread_setspecific(key, &key);
    return unused;
}

int main(void) {
    pthread_key_create(&key, destructor);
    one(give, NULL);
    one(set, NULL);
    printf("%d rounds\n", rounds);
    return 0;
}
