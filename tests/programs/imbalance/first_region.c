// OpenMP sets itself up inside of the call that begins the process's first region, which is the only one here.
#include <stdio.h>

enum { N = 4000 };
static double row[N];

int main(void)
{
#pragma omp parallel for schedule(static) // planted: region
    for (int i = 0; i < N; i++)
        for (int k = 0; k < i; k++)
            row[i] = row[i] * 0.5 + k;
    printf("%g\n", row[N - 1]);
    return 0;
}
