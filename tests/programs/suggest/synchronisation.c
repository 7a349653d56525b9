// SUGGEST: synchronisation
// SAYS: reduction
// OBJECT: total
// All threads add to one atomic variable in each step.
#include <stdatomic.h>

#define T 4
#define N 1000

_Alignas(64) atomic_long total;

int main(void) {
#pragma omp parallel num_threads(T)
    for (int i = 0; i < N; i++) {
        atomic_fetch_add(&total, i);
#pragma omp barrier
    }
    return total == 0;
}
