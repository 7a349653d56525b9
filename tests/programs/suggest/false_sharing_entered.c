// REFUSE: false-sharing
// Results side by side, written in a function that is entered 200 times in all. Control flow is not counted.
#include <omp.h>

#define T 4
#define N 50

volatile long results[T];

__attribute__((noinline)) static void add(int me, int i) {
    results[me] += i;
}

int main(void) {
#pragma omp parallel num_threads(T)
    {
        int me = omp_get_thread_num();
        for (int i = 0; i < N; i++) {
            add(me, i);
#pragma omp barrier
        }
    }
    return results[0] == 0;
}
