// REFUSE: false-sharing
// Each thread's counter has a cache line of its own.
#include <omp.h>

#define T 4
#define N 200000

struct __attribute__((aligned(64))) counter {
    volatile long value;
};
struct counter counters[T];

int main(void) {
#pragma omp parallel num_threads(T)
    {
        int me = omp_get_thread_num();
        for (int i = 0; i < N; i++)
            counters[me].value += i;
    }
    return counters[0].value == 0;
}
