// SUGGEST: array-blocking
// SAYS: Work in tiles of 1024 bytes: they stay in L1
// CACHES: 4K,16K
// Doubles that are found through a table, which alone is read in steps that are known: they are not as small as its numbers.
#define T 4
#define N 96

double a[N][N], b[N][N], c[N][N];
int order[N];

int main(void) {
    for (int i = 0; i < N; i++)
        order[i] = (i * 5) % N;
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
                    c[i][order[j]] += a[i][order[k]] * b[order[k]][order[j]];
    }
    return c[1][1] == 0;
}
