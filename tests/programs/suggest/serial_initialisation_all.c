// REFUSE: serial-initialisation
// main fills a table before there are other threads, and each thread reads all of it: there is no part to divide.
#include <stdlib.h>

#define T 4
#define N 100000

int main(void) {
    double *table = malloc(N * sizeof *table), *b = malloc(T * sizeof *b);
    for (int i = 0; i < N; i++)
        table[i] = i;
#pragma omp parallel for schedule(static) num_threads(T)
    for (int k = 0; k < T; k++) {
        double sum = 0;
        for (int i = 0; i < N; i++)
            sum += table[i] * k;
        b[k] = sum;
    }
    int failed = b[0] != 0;
    free(table);
    free(b);
    return failed;
}
