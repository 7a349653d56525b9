// Threads do their work in a library that was not instrumented (library_piece.c), of which no instruction is counted.
// The last of them writes the result besides, in a loop of the program's own, which takes next to none of the time.
//
// program MODE. "even": all pieces are of one size. "planted": one is larger.
#include <pthread.h>
#include <string.h>

enum { THREADS = 8, PIECE = 8000000 };

double library(long rounds);

static int planted;
static double results[THREADS][16];
static volatile double written;

static void *work(void *argument)
{
    long id = (long)argument;
    results[id][0] = library(PIECE);
    if (planted && id == THREADS / 2) // planted
        results[id][0] += library(5L * PIECE);
    if (id == THREADS - 1)
        for (int i = 0; i < 100000; i++)
            written = results[id][0] + i;
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t threads[THREADS];
    planted = argc > 1 && strcmp(argv[1], "planted") == 0;
    for (long id = 0; id < THREADS; id++)
        pthread_create(&threads[id], NULL, work, (void *)id);
    for (int id = 0; id < THREADS; id++)
        pthread_join(threads[id], NULL);
    return 0;
}
