// REFUSE: data-affinity-scheduling
// What a thread writes, another one uses many times: it is worth fetching, and belongs to whoever wrote it.
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
        for (int i = 0; i < N; i++)
            for (int l = 0; l < 20; l++)
                for (int j = 0; j < M; j++)
                    b[i][j] += a[(i + N / T) % N][j] * l;
    }
    return b[3][3] == 0;
}
