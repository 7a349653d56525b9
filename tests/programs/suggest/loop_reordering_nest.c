// REFUSE: loop-reordering
// A loop goes down a column of factors, but the loop inside it, along whole rows, does the work.
#define T 4
#define N 128

double a[N][N], b[N][N], c[N][N];

int main(void) {
    for (int k = 0; k < 4; k++) {
#pragma omp parallel for schedule(static) num_threads(T)
        for (int i = 0; i < N; i++)
            for (int j = 0; j < N; j++) {
                a[i][j] = i + j + k;
                b[i][j] = i - j + k;
            }
#pragma omp parallel for schedule(static) num_threads(T)
        for (int part = 0; part < T; part++)
            for (int l = 0; l < N; l++)
                for (int i = part; i < N; i += T) {
                    double factor = a[N - 1 - i][l];
                    for (int j = 0; j < N; j++)
                        c[i][j] += factor * b[l][j];
                }
    }
    return c[3][3] == 0;
}
