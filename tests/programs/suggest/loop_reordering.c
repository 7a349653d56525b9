// SUGGEST: loop-reordering
// OBJECT: a
// The inner loop goes down the rows of what the other threads wrote.
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
        for (int j = 0; j < N; j++) {
            double sum = 0;
            for (int i = 0; i < N; i++)
                sum += a[i][j];
            sums[j] = sum;
        }
    }
    return sums[3] == 0;
}
