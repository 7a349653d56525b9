// SUGGEST: serial-initialisation
// OBJECT: a
// KIND: heap
// main fills two arrays before there are other threads: all read the whole small one, and divide the large one.
#include <stdlib.h>

#define T 4
#define N 160000
#define M 10000

int main(void) {
    double *table = malloc(M * sizeof *table), *a = malloc(N * sizeof *a), *b = malloc(N * sizeof *b);
    for (int i = 0; i < M; i++)
        table[i] = i;
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
