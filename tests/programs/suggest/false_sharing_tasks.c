// REFUSE: false-sharing
// OBJECT: data of a task
// KIND: pointer
// THREADTALK: memory,control
// Who makes a task and who runs it write into its block, which OpenMP laid out: nothing that the program could pad. The
// tasks wait for one another by fours, so that every thread runs a quarter of them.
#include <pthread.h>

#define T 4
#define TASKS 64
#define N 1000

static pthread_barrier_t met;

int main(void) {
    pthread_barrier_init(&met, 0, T);
#pragma omp parallel num_threads(T)
#pragma omp master
    for (volatile long k = 0; k < TASKS; k++) {
        volatile long sum = k, factor = k + 1;
#pragma omp task firstprivate(sum, factor)
        {
            pthread_barrier_wait(&met);
            for (int i = 0; i < N; i++)
                sum += factor;
        }
    }
    return 0;
}
