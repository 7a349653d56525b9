// REFUSE: serial-initialisation
// Each thread fills what it will use, and some of its neighbour's.
#include <stdlib.h>

#define T 4
#define N 100000

int main(void) {
    double *a = malloc(N * sizeof *a), *b = malloc(N * sizeof *b);
#pragma omp parallel num_threads(T)
    {
#pragma omp for schedule(static)
        for (int i = 0; i < N; i++)
            a[i] = i;
#pragma omp for schedule(static)
        for (int i = 0; i < N; i++)
            b[i] = a[(i + N / 8) % N] * 2;
    }
    int failed = b[0] != 2.0 * (N / 8);
    free(a);
    free(b);
    return failed;
}
