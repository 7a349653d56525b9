// OpenMP's ways to divide work: program MODE.
#include <stdlib.h>
#include <string.h>

enum { N = 64 };

static double sinks[N];

static __attribute__((noinline)) double spin(long rounds)
{
    double x = 1;
    for (long i = 0; i < rounds; i++) {
        x = x * 0.5 + (double)i;
        __asm__ volatile("");
    }
    return x;
}

int main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "static";
    if (!strcmp(mode, "static")) {
#pragma omp parallel for schedule(static)
        for (int i = 0; i < N; i++)
            for (int j = 0; j <= i * i / 8; j++) // planted: static
                sinks[i] = sinks[i] * 0.5 + spin(20);
    } else if (!strcmp(mode, "dynamic")) {
#pragma omp parallel for schedule(dynamic, 2)
        for (int i = 0; i < N; i++)
            sinks[i] = spin(i * 200);
    } else if (!strcmp(mode, "guided")) {
#pragma omp parallel for schedule(guided)
        for (int i = 0; i < N; i++)
            sinks[i] = spin(i * 200);
    } else if (!strcmp(mode, "tasks")) {
#pragma omp parallel
#pragma omp single
        for (int i = 0; i < N; i++) {
#pragma omp task firstprivate(i)
            sinks[i] = spin(i * 200);
        }
    } else if (!strcmp(mode, "nested")) {
#pragma omp parallel for num_threads(2)
        for (int i = 0; i < 2; i++) {
#pragma omp parallel for num_threads(3)
            for (int j = 0; j < N / 2; j++)
                sinks[i * N / 2 + j] = spin((i + 1) * 500);
        }
    }
    return sinks[N - 1] == 0.12345;
}
