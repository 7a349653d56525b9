// Who waits for the tasks that it has made waits once for all of them. Where none were made since, or all ran at once, there is
// nothing to wait for.
#include <omp.h>

enum { TASKS = 10 };

static volatile double sinks[64][16];

static void spin(long rounds)
{
    for (long i = 0; i < rounds; i++)
        sinks[omp_get_thread_num()][0] = (double)i;
}

int main(void)
{
#pragma omp parallel num_threads(2)
#pragma omp single
    for (int i = 0; i < TASKS; i++) {
#pragma omp task
        {
#pragma omp task
            spin(10000);
            spin(10);
#pragma omp taskwait // inside
        }
#pragma omp taskwait // deferred
        spin(10);
#pragma omp taskwait // none
#pragma omp task if (0)
        spin(10);
#pragma omp taskwait // undeferred
    }
    return 0;
}
