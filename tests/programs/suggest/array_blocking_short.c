// REFUSE: array-blocking
// CACHES: 4K,16K
// Each element is used again at once. That the threads also have large data of their own makes misses possible, not distances long.
#define T 4
#define N 4096

double a[N], own[T][N], sums[T][8];

int main(void) {
#pragma omp parallel num_threads(T)
    for (int k = 0; k < 3; k++) {
#pragma omp for schedule(static)
        for (int i = 0; i < N; i++)
            a[i] = i + k;
#pragma omp for schedule(static, 1)
        for (int t = 0; t < T; t++)
            for (int i = 1; i < N - 1; i++) {
                own[t][i] += i;
                sums[t][0] += a[i - 1] + a[i] * 2 + a[i + 1] + own[t][i];
            }
    }
    return sums[0][0] == 0;
}
