// SUGGEST: serial-initialisation
// OBJECT: a
// KIND: heap
// main fills the array before there are other threads.
#include <stdlib.h>

#define T 4
#define N 100000

int main(void) {
    double *a = malloc(N * sizeof *a), *b = malloc(N * sizeof *b);
    for (int i = 0; i < N; i++)
        a[i] = i;
#pragma omp parallel for schedule(static) num_threads(T)
    for (int i = 0; i < N; i++)
        b[i] = a[i] * 2;
    int failed = b[5] != 10;
    free(a);
    free(b);
    return failed;
}
