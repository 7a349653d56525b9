// The end of a thread comes after the program's own destructors, also those that ask for three more rounds.
// stdout: round 1
// stdout: round 2
// stdout: round 3
// trace: clear_range 1000
// trace: clear_range 2008
// trace: clear_range 3000
// trace: thread_ended 1
// count: 1 thread_ended
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static pthread_key_t key;
static void destroy(void *round) {
    printf("round %ld\n", (long)round);
    fflush(stdout);
    free(malloc((size_t)round * 1000));
    if ((long)round < 3) pthread_setspecific(key, (char *)round + 1);
}

static void *work(void *argument) {
    pthread_setspecific(key, (void *)1);
    return argument;
}

int main(void) {
    pthread_t thread;
    pthread_key_create(&key, destroy);
    pthread_create(&thread, NULL, work, NULL);
    return pthread_join(thread, NULL);
}
