// All threads are made in one line, by a function that is given what they are to run: main makes the one that leads, and
// that one a reader, which sleeps, and a worker, beside which it works itself. Only the two that work are a team, and
// they do the same.
//
// program MODE. "planted": one of the two has more to do.
#include <pthread.h>
#include <string.h>
#include <unistd.h>

static int planted, places;
static volatile double sinks[2][16];

static void *entry(void *function)
{
    ((void (*)(void))function)();
    return NULL;
}

static pthread_t make(void (*function)(void))
{
    pthread_t thread;
    pthread_create(&thread, NULL, entry, (void *)function);
    return thread;
}

static void work(void)
{
    int place = __atomic_fetch_add(&places, 1, __ATOMIC_RELAXED);
    for (long i = 0; i < (planted && place == 1 ? 6000000 : 2000000); i++)
        sinks[place][0] = (double)i;
}

static void reader(void)
{
    for (int i = 0; i < 10; i++)
        usleep(1000);
}

static void leader(void)
{
    pthread_t sleeper = make(reader), worker = make(work);
    work();
    pthread_join(worker, NULL);
    pthread_join(sleeper, NULL);
}

int main(int argc, char **argv)
{
    planted = argc > 1 && strcmp(argv[1], "planted") == 0;
    pthread_join(make(leader), NULL);
    return 0;
}
