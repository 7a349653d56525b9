// REFUSE: false-sharing
// Blocks whose borders lie inside cache lines: one line of many.
#include <omp.h>

#define T 4
#define N 40004

double a[N];

int main(void) {
    for (int k = 0; k < 20; k++)
#pragma omp parallel for schedule(static) num_threads(T)
        for (int i = 0; i < N; i++)
            a[i] += i;
    return a[1] == 0;
}
