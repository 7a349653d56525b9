// SUGGEST: false-sharing
// OBJECT: counters
// Counters of all threads side by side in one cache line.
#include <omp.h>

#define T 4
#define N 200000

volatile long counters[T];

int main(void) {
#pragma omp parallel num_threads(T)
    {
        int me = omp_get_thread_num();
        for (int i = 0; i < N; i++)
            counters[me] += i;
    }
    return counters[0] == 0;
}
