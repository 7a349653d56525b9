// REFUSE: array-blocking
// CACHES: 4K,16K
// Rows of a sparse matrix, each of their elements used once in a step: what is used again was used in the step before.
#define T 4
#define N 3000
#define PER_ROW 9

int begin[N + 1];
double values[N * PER_ROW], x[N * PER_ROW], sums[N];

int main(void) {
    for (int i = 0; i <= N; i++)
        begin[i] = i * PER_ROW;
    for (int k = 0; k < N * PER_ROW; k++)
        values[k] = x[k] = k % 7;
#pragma omp parallel num_threads(T)
    for (int step = 0; step < 10; step++) {
#pragma omp for schedule(static)
        for (int i = 0; i < N; i++) {
            double sum = 0;
            for (int k = begin[i]; k < begin[i + 1]; k++)
                sum += values[k] * x[k];
            sums[i] += sum;
        }
    }
    return sums[5] == 1;
}
