// What threads do after their last barrier, and what the first of them, one of the team, does alone once it joins the
// others: serial code, in which nobody is faster or slower.
//
// program MODE THREADS. "even": all do the same up to the join. "planted": one has more to do between the last barrier
// and the join. "helper": threads join a helper inside a phase and go on in it, the first one after an attempt to join
// itself. "again": a second team at the same barrier.
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 64, PHASES = 3 };

static pthread_barrier_t barrier;
static int threads;
static const char *mode;
static double sinks[MOST][16];

static __attribute__((noinline)) double spin(long rounds)
{
    double x = 1;
    for (long i = 0; i < rounds; i++) {
        x = x * 0.5 + (double)i;
        __asm__ volatile("");
    }
    return x;
}

static void *nothing(void *argument)
{
    return argument;
}

static double helped(int t)
{
    pthread_t helper;
    double x = 0;
    if (t == 0)
        x += pthread_join(pthread_self(), NULL);
    if (pthread_create(&helper, NULL, nothing, NULL) != 0)
        exit(1);
    x += spin(10000);
    pthread_join(helper, NULL);
    return x + spin(40000);
}

static void *work(void *argument)
{
    int t = (int)(long)argument, helpers = strcmp(mode, "helper") == 0;
    double x = 0;
    for (int phase = 0; phase < PHASES; phase++) {
        x += helpers ? helped(t) : spin(50000);
        pthread_barrier_wait(&barrier);
    }
    // The first of the team joins the others, which ends the phase for it.
    x += helpers && t > 0 ? helped(t) : spin(50000);
    if (strcmp(mode, "planted") == 0 && t == threads / 2) // planted: planted
        x += spin(100000);
    sinks[t][0] += x;
    return NULL;
}

static double team(void)
{
    pthread_t ids[MOST];
    double sum = 0;
    for (int t = 1; t < threads; t++)
        if (pthread_create(&ids[t], NULL, work, (void *)(long)t) != 0)
            exit(1);
    work(NULL);
    for (int t = 1; t < threads; t++) {
        pthread_join(ids[t], NULL);
        sum += spin(400000) + sinks[t][0];
    }
    return sum + spin(4000000);
}

int main(int argc, char **argv)
{
    if (argc != 3)
        return 2;
    mode = argv[1];
    threads = atoi(argv[2]);
    pthread_barrier_init(&barrier, NULL, (unsigned)threads);
    double sum = team();
    if (strcmp(mode, "again") == 0)
        sum += team();
    return sum == 0.12345;
}
