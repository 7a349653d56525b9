// REFUSE: data-affinity-scheduling
// Blocks in both loops: only their borders pass between threads.
#define T 4
#define N 64
#define M 512

double a[N][M], b[N][M];

int main(void) {
#pragma omp parallel num_threads(T)
    for (int k = 0; k < 4; k++) {
#pragma omp for schedule(static)
        for (int i = 0; i < N; i++)
            for (int j = 0; j < M; j++)
                a[i][j] = i + j + k;
#pragma omp for schedule(static)
        for (int i = 1; i < N - 1; i++)
            for (int j = 0; j < M; j++)
                b[i][j] = a[i - 1][j] + a[i + 1][j];
    }
    return b[3][3] == 0;
}
