// An untied task is left wherever it makes another one, to be gone on with later, by whichever thread has time. Then one
// thread works, and the others wait for it.
#include <omp.h>
#include <stdlib.h>

enum { TASKS = 200 };

static volatile double sinks[64][16];

static void spin(long rounds)
{
    for (long i = 0; i < rounds; i++)
        sinks[omp_get_thread_num()][0] = (double)i;
}

int main(int argc, char **argv)
{
    int threads = argc > 1 ? atoi(argv[1]) : 4;
    for (int turn = 0; turn < 5; turn++) {
#pragma omp parallel num_threads(threads)
        {
#pragma omp single nowait
#pragma omp task untied
            for (int i = 0; i < TASKS; i++) {
#pragma omp task untied
                {
                    spin(100);
#pragma omp taskyield
                    spin(100);
                }
            }
#pragma omp barrier
            if (omp_get_thread_num() == threads - 1) // late
                spin(4000000);
#pragma omp barrier // waits
            spin(10);
        }
    }
    return 0;
}
