// REFUSE: loop-fusion
// The second loop reads at other places what the first computes: it has to wait for all of it.
#define T 4
#define N 40000

double weights[N], first[N], second[N];

int main(void) {
#pragma omp parallel num_threads(T)
    for (int k = 0; k < 3; k++) {
#pragma omp for schedule(static)
        for (int i = 0; i < N; i++)
            weights[N - 1 - i] = i * 0.5 + k;
#pragma omp for schedule(static)
        for (int i = 0; i < N; i++)
            first[i] = weights[i] * 2;
#pragma omp for schedule(static)
        for (int i = 0; i < N; i++)
            second[i] = weights[i] + first[N - 1 - i];
    }
    return first[3] + second[5] == 0;
}
