// REFUSE: false-sharing
// THREADTALK: memory,control
// As `false_sharing_seldom.c`, but the block that writes ends in a function that is inlined, and counts for that: how often
// the line was executed is known from the function around it.
#include <omp.h>

#define T 4
#define N 50

volatile long results[T];
volatile long weights[N];

static inline void forget(int i) {
    if (weights[i] > 0)
        weights[i] = 0;
}

int main(void) {
#pragma omp parallel num_threads(T)
    {
        int me = omp_get_thread_num();
        for (int i = 0; i < N; i++) {
            results[me] += i;
            forget(i);
#pragma omp barrier
        }
    }
    return results[0] == 0;
}
