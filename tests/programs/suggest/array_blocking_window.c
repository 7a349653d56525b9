// REFUSE: array-blocking
// CACHES: 4K,16K
// A window of four values slides over blocks that are filtered again and again: nearly all reuse is at once, whatever the
// threads have for themselves.
#define T 4
#define N 2048
#define BLOCKS 4

int data[BLOCKS * T][N], residual[BLOCKS * T][N];

__attribute__((noinline)) static void filter(const int *d, int *r) {
    for (int i = 4; i < N; i++) {
        int sum = 0;
        for (int k = 0; k < 4; k++)
            sum += (k + 1) * d[i - 1 - k];
        r[i] = d[i] - (sum >> 4);
    }
}

int main(void) {
#pragma omp parallel num_threads(T)
    {
#pragma omp for schedule(static)
        for (int b = 0; b < BLOCKS * T; b++)
            for (int i = 0; i < N; i++)
                data[b][i] = i * b;
        for (int round = 0; round < 10; round++) {
#pragma omp for schedule(static, 1)
            for (int b = 0; b < BLOCKS * T; b++)
                filter(data[b], residual[b]);
        }
    }
    return residual[1][5] == 1;
}
