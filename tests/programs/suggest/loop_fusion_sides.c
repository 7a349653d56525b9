// REFUSE: loop-fusion
// Two loops over what another thread wrote are on the two sides of a condition: each call runs one of them, the second
// more often than the first.
#define T 4
#define N 40000

double weights[N], sums[T][N];

__attribute__((noinline)) static void add(double *restrict sums, const double *restrict weights, int step) {
    if (step % 3 == 0)
        for (int i = 0; i < N; i++)
            sums[i] += weights[i] * 2;
    else
        for (int i = 0; i < N; i++)
            sums[i] -= weights[i] * weights[i];
}

int main(void) {
    for (int i = 0; i < N; i++)
        weights[i] = i * 0.5;
#pragma omp parallel for schedule(static, 1) num_threads(T)
    for (int t = 0; t < T; t++)
        for (int k = 0; k < 6; k++)
            add(sums[t], weights, k);
    return sums[0][3] + sums[1][5] == 0;
}
