// REFUSE: loop-reordering
// The inner loop goes along the rows.
#define T 4
#define N 256

double a[N][N], sums[N];

int main(void) {
    for (int k = 0; k < 4; k++) {
#pragma omp parallel for schedule(static) num_threads(T)
        for (int i = 0; i < N; i++)
            for (int j = 0; j < N; j++)
                a[i][j] = i + j + k;
#pragma omp parallel for schedule(static) num_threads(T)
        for (int i = 0; i < N; i++) {
            double sum = 0;
            for (int j = 0; j < N; j++)
                sum += a[N - 1 - i][j];
            sums[i] = sum;
        }
    }
    return sums[3] == 0;
}
