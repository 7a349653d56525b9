// REFUSE: synchronisation
// Each thread adds to the atomic variable once.
#include <stdatomic.h>

#define T 4
#define N 40000

_Alignas(64) atomic_long total;
long numbers[N];

int main(void) {
#pragma omp parallel num_threads(T)
    {
        long sum = 0;
#pragma omp for schedule(static)
        for (int i = 0; i < N; i++)
            numbers[N - 1 - i] = i;
#pragma omp for schedule(static)
        for (int i = 0; i < N; i++)
            sum += numbers[i];
        atomic_fetch_add(&total, sum);
    }
    return total == 0;
}
