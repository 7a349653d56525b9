// SUGGEST: array-blocking
// CACHES: 4K,16K
// Each row of the result walks all of what the others wrote: by the time it comes again, 4 KiB have passed long ago.
#define T 4
#define N 96

double a[N][N], b[N][N], c[N][N];

int main(void) {
#pragma omp parallel num_threads(T)
    {
#pragma omp for schedule(static)
        for (int i = 0; i < N; i++)
            for (int j = 0; j < N; j++) {
                a[i][j] = i;
                b[i][j] = j;
            }
#pragma omp for schedule(static)
        for (int i = 0; i < N; i++)
            for (int k = 0; k < N; k++)
                for (int j = 0; j < N; j++)
                    c[i][j] += a[i][k] * b[k][j];
    }
    return c[1][1] == 0;
}
