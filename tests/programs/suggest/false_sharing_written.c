// SUGGEST: false-sharing
// OBJECT: counters
// THREADTALK: memory,control
// Counters side by side in a function that each thread calls often: no loop of its own, but its line is executed often.
#include <omp.h>

#define T 4
#define N 20000

volatile long counters[T];

__attribute__((noinline)) static void count(int me, int i) {
    counters[me] += i;
}

int main(void) {
#pragma omp parallel num_threads(T)
    {
        int me = omp_get_thread_num();
        for (int i = 0; i < N; i++)
            count(me, i);
    }
    return counters[0] == 0;
}
