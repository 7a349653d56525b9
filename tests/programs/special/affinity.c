/* Threads 1 to 5 are created in this order and say, like the first, on which processors they may run. With OpenMP a team of six
   does so. Thread n waits for what thread n - 1 wrote. */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <unistd.h>

#define THREADS 6
static int turn;
static int data[THREADS + 1][64];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

static void say(int thread)
{
    cpu_set_t mask;
    sched_getaffinity(0, sizeof mask, &mask);
    pthread_mutex_lock(&lock);
    while (turn != thread)
        pthread_cond_wait(&changed, &lock);
    for (int i = 0; i < 64; i++)
        data[thread + 1][i] = data[thread][i] + 1;
    printf("%d:", thread);
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET(cpu, &mask))
            printf(" %d", cpu);
    printf("\n");
    fflush(stdout);
    turn++;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
}

static int may_use(void)
{
    cpu_set_t mask;
    sched_getaffinity(0, sizeof mask, &mask);
    return CPU_COUNT(&mask);
}

#ifdef _OPENMP
int main(void)
{
    printf("before: %d\n", may_use());
    for (int round = 0; round < 2; round++) {
        turn = 0;
#pragma omp parallel num_threads(THREADS)
        {
            extern int omp_get_thread_num(void);
            say(omp_get_thread_num());
        }
    }
    return 0;
}
#else
static void *work(void *number)
{
    say((int)(long)number);
    return NULL;
}

int main(void)
{
    pthread_t threads[THREADS];
    printf("before: %d\n", may_use());
    for (long i = 1; i < THREADS; i++)
        pthread_create(&threads[i], NULL, work, (void *)i);
    say(0);
    for (int i = 1; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
#endif
