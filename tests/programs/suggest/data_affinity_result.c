// REFUSE: data-affinity-scheduling
// Threads read rims of their neighbours; at the end one thread reads all that they wrote.
#include <stdlib.h>

#define T 4
#define N 256
#define STEPS 30

double a[2][N][N];

int main(void) {
#pragma omp parallel num_threads(T)
    for (int k = 0; k < STEPS; k++) {
#pragma omp for schedule(static)
        for (int i = 1; i < N - 1; i++)
            for (int j = 1; j < N - 1; j++)
                a[~k & 1][i][j] = a[k & 1][i - 1][j] + a[k & 1][i + 1][j] + j;
    }
    double sum = 0;
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            sum += a[STEPS & 1][i][j];
    return sum == 0;
}
