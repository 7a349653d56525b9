// SUGGEST: thread-mapping
// SAYS: comes from or goes to thread
// One thread reads again and again what each of five others wrote: the five have no other partner, but no two of the six
// belong closer together than the rest.
#include <omp.h>

#define T 6
#define N 4000

int values[T - 1][N];
long total;

int main(void) {
#pragma omp parallel num_threads(T)
    for (int step = 0; step < 10; step++) {
        int me = omp_get_thread_num();
        if (me < T - 1)
            for (int i = 0; i < N; i++)
                values[me][i] = step + i;
#pragma omp barrier
        if (me == T - 1)
            for (int k = 0; k < 3; k++)
                for (int i = 0; i < N; i++)
                    for (int t = 0; t < T - 1; t++)
                        total += values[t][i] ^ k;
#pragma omp barrier
    }
    return total == 1;
}
