// REFUSE: array-blocking
// CACHES: 4K,16K
// What is used again fits into the smallest cache.
#define T 4
#define N 64
#define REPEAT 200

double table[N], sums[T * 8];

int main(void) {
#pragma omp parallel num_threads(T)
    {
#pragma omp for schedule(static)
        for (int i = 0; i < N; i++)
            table[i] = i;
#pragma omp for schedule(static)
        for (int t = 0; t < T; t++) {
            double sum = 0;
            for (int k = 0; k < REPEAT; k++)
                for (int i = 0; i < N; i++)
                    sum += table[i] * k;
            sums[t * 8] = sum;
        }
    }
    return sums[0] == 1;
}
