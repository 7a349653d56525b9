// REFUSE: loop-fusion
// Each thread goes twice over the same 2 KiB that others wrote: they are still in the nearest cache the second time.
#define T 4
#define N 256
#define STEPS 200

double weights[N], sums[T][8], first[T][N], second[T][N];

int main(void) {
#pragma omp parallel num_threads(T)
    for (int k = 0; k < STEPS; k++) {
#pragma omp for schedule(static)
        for (int i = 0; i < N; i++)
            weights[i] = i * 0.5 + k;
#pragma omp for schedule(static, 1)
        for (int t = 0; t < T; t++) {
            for (int i = 0; i < N; i++)
                first[t][i] = weights[i] * 2;
            for (int i = 0; i < N; i++)
                second[t][i] = weights[i] + sums[t][0];
        }
    }
    return first[0][3] + second[1][5] == 0;
}
