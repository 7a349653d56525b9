// REFUSE: false-sharing
// One element that all use: it is shared truly.
#include <stdatomic.h>

#define T 4
#define N 200

_Alignas(64) atomic_long flag;

int main(void) {
#pragma omp parallel num_threads(T)
    for (int i = 0; i < N; i++) {
        atomic_fetch_add(&flag, 1);
#pragma omp barrier
    }
    return flag == 0;
}
