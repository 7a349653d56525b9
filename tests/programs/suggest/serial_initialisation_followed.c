// REFUSE: serial-initialisation
// Threads fill what they divide; the table that all of them read is still filled by main, and stays so.
#include <stdlib.h>

#define T 4
#define N 160000
#define M 10000

int main(void) {
    double *table = malloc(M * sizeof *table), *a = malloc(N * sizeof *a), *b = malloc(N * sizeof *b);
    for (int i = 0; i < M; i++)
        table[i] = i;
#pragma omp parallel for schedule(static) num_threads(T)
    for (int i = 0; i < N; i++)
        a[i] = i;
#pragma omp parallel for schedule(static) num_threads(T)
    for (int i = 0; i < N; i++)
        b[i] = a[i] * table[i % M];
    int failed = b[0] != 0;
    free(table);
    free(a);
    free(b);
    return failed;
}
