// Threads that touch new memory between two barriers; one of them far more pages than the others.
//
// program THREADS
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>

enum { MOST = 64, PAGE = 4096, FEW = 20, MANY = 600 };

static pthread_barrier_t barrier;
static int threads;
static char *memory[MOST];

static __attribute__((noinline)) void touch(char *at, int pages)
{
    for (int i = 0; i < pages; i++)
        ((volatile char *)at)[(long)i * PAGE] = 1;
}

static void *work(void *argument)
{
    int t = (int)(long)argument;
    pthread_barrier_wait(&barrier);
    touch(memory[t], FEW);
    if (t == threads / 2) // planted: faults
        touch(memory[t], MANY);
    pthread_barrier_wait(&barrier);
    return NULL;
}

int main(int argc, char **argv)
{
    if (argc != 2)
        return 2;
    threads = atoi(argv[1]);
    pthread_barrier_init(&barrier, NULL, (unsigned)threads);
    pthread_t ids[MOST];
    for (int t = 0; t < threads; t++) {
        memory[t] = mmap(NULL, MANY * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (memory[t] == MAP_FAILED || madvise(memory[t], MANY * PAGE, MADV_NOHUGEPAGE) != 0)
            return 1;
    }
    for (int t = 0; t < threads; t++)
        pthread_create(&ids[t], NULL, work, (void *)(long)t);
    for (int t = 0; t < threads; t++)
        pthread_join(ids[t], NULL);
    return 0;
}
