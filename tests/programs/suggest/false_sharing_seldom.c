// REFUSE: false-sharing
// THREADTALK: memory,control
// Results side by side in a loop of few steps: as shared as can be, but written 200 times in all.
#include <omp.h>

#define T 4
#define N 50

volatile long results[T];

int main(void) {
#pragma omp parallel num_threads(T)
    {
        int me = omp_get_thread_num();
        for (int i = 0; i < N; i++) {
            results[me] += i;
#pragma omp barrier
        }
    }
    return results[0] == 0;
}
