// REFUSE: thread-mapping
// CACHES: 16K,1M
// Each value that the first thread wrote is read once by each of the others.
#define T 4
#define N 8192

double table[N], sums[T][8];

int main(void) {
    for (int i = 0; i < N; i++)
        table[i] = i;
#pragma omp parallel for schedule(static, 1) num_threads(T)
    for (int t = 0; t < T; t++)
        for (int k = 0; k < 1; k++)
            for (int i = 0; i < N; i++)
                sums[t][0] += table[i] * (k + 1);
    return sums[1][0] == 0;
}
