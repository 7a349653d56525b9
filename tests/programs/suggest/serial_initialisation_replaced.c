// SUGGEST: serial-initialisation
// Each thread replaces what main wrote by its own: what is left says nothing of the first readers, and the rule speaks.
#include <stdlib.h>

#define T 4
#define N 100000

int main(void) {
    double *a = malloc(N * sizeof *a);
    for (int i = 0; i < N; i++)
        a[i] = i;
#pragma omp parallel for schedule(static) num_threads(T)
    for (int i = 0; i < N; i++)
        a[i] = a[i] * 2;
    int failed = a[5] != 10;
    free(a);
    return failed;
}
