// SUGGEST: thread-mapping
// CACHES: 16K,1M
// All threads walk again and again over 64 KiB that the first one wrote: they should be beside it.
#define T 4
#define N 8192

double table[N], sums[T][8];

int main(void) {
    for (int i = 0; i < N; i++)
        table[i] = i;
#pragma omp parallel for schedule(static, 1) num_threads(T)
    for (int t = 0; t < T; t++)
        for (int k = 0; k < 10; k++)
            for (int i = 0; i < N; i++)
                sums[t][0] += table[i] * (k + 1);
    return sums[1][0] == 0;
}
