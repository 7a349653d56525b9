// The first thread works; each of the others waits for it in a loop, in another way. One of them has a flag in front of
// it that is set already.
//
// program THREADS: at least 7.
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>

static atomic_int ready, held = 1, other = 1, open_door = 1;
static atomic_flag taken = ATOMIC_FLAG_INIT;
static volatile int flag;
static volatile double sink;
// Those that wait have begun: on a busy machine the work might be done before.
static sem_t here;

static __attribute__((noinline)) void work(void)
{
    for (long i = 0; i < 40000000; i++) // planted
        sink = (double)i;
    atomic_store(&ready, 1);
    flag = 1;
    atomic_store(&held, 0);
    atomic_flag_clear(&taken);
    atomic_store(&other, 0);
}

static void *wait(void *argument)
{
    int tries = 0, free = 0;
    if ((intptr_t)argument > 0 && (intptr_t)argument < 6)
        sem_post(&here);
    switch ((intptr_t)argument) {
    case 0:
        for (int others = 0; others < 5; others++)
            sem_wait(&here);
        work();
        break;
    case 1:
        while (!atomic_load(&ready)) {} // spins: load
        break;
    case 2:
        while (!flag) // spins: volatile
            __builtin_ia32_pause();
        break;
    case 3:
        while (atomic_exchange(&held, 1)) // spins: exchange
            while (atomic_load(&held))
                sched_yield();
        atomic_store(&held, 0);
        break;
    case 4:
        while (atomic_flag_test_and_set(&taken)) // spins: flag
            __asm__ volatile("pause" ::: "memory");
        atomic_flag_clear(&taken);
        break;
    case 5:
        for (; !atomic_compare_exchange_weak(&other, &free, 1); free = 0) // spins: compare
            if (++tries % 10 == 0)
                sched_yield();
        atomic_store(&other, 0);
        break;
    default:
        while (!atomic_load(&open_door)) {}
        // Another thread's data, but nothing to wait for: work.
        for (long i = 0; i < 100000; i++)
            if (atomic_load(&open_door) == i)
                sink = (double)i;
    }
    return argument;
}

int main(int argc, char **argv)
{
    intptr_t threads = argc > 1 ? atoi(argv[1]) : 7;
    atomic_flag_test_and_set(&taken);
    sem_init(&here, 0, 0);
    pthread_t *team = malloc((size_t)threads * sizeof *team);
    for (intptr_t t = 0; t < threads; t++)
        pthread_create(&team[t], NULL, wait, (void *)t);
    for (intptr_t t = 0; t < threads; t++)
        pthread_join(team[t], NULL);
    free(team);
    return 0;
}
