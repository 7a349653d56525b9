// The loop's iterations are the same for all threads; of what follows it the first thread does more, a few instructions each
// time.
#include <omp.h>
#include <stdio.h>

enum { N = 1 << 18 };
static double row[N];

int main(void)
{
    double sum = 0;
    for (int round = 0; round < 5; round++) {
        double part = 0;
#pragma omp parallel for reduction(+ : part) schedule(static)
        for (int i = 0; i < N; i++)
            part += row[i] * row[i] + round;
        sum += part;
    }
    printf("%g\n", sum);
    return 0;
}
