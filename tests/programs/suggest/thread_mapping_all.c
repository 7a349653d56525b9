// REFUSE: thread-mapping
// Each thread reads what all others wrote: any placement is as good as another.
#include <omp.h>

#define T 8
#define N 800

double blocks[T][N], sums[T][8];

int main(void) {
#pragma omp parallel num_threads(T)
    {
        int me = omp_get_thread_num();
        for (int k = 0; k < 4; k++) {
            for (int i = 0; i < N; i++)
                blocks[me][i] = me + i + k;
#pragma omp barrier
            double sum = 0;
            for (int t = 0; t < T; t++)
                for (int i = 0; i < N; i++)
                    sum += blocks[t][i];
            sums[me][0] = sum;
#pragma omp barrier
        }
    }
    return sums[0][0] == 0;
}
