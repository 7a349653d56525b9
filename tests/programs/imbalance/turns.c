// Between two barriers one thread works and the others wait, another one each time: all do the same in the end.
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

static long threads;
static pthread_barrier_t barrier;
static volatile long sink;

static void *worker(void *argument) {
    long id = (intptr_t)argument;
    for (long turn = 0; turn < 3 * threads; turn++) {
        if (turn % threads == id) // planted
            for (long i = 0; i < 20000; i++)
                sink = i;
        pthread_barrier_wait(&barrier);
    }
    return NULL;
}

int main(int argc, char **argv) {
    threads = argc > 1 ? atol(argv[1]) : 8;
    pthread_barrier_init(&barrier, NULL, (unsigned)threads);
    pthread_t *team = malloc((size_t)threads * sizeof *team);
    for (long id = 0; id < threads; id++)
        pthread_create(&team[id], NULL, worker, (void *)(intptr_t)id);
    for (long id = 0; id < threads; id++)
        pthread_join(team[id], NULL);
    free(team);
    return 0;
}
