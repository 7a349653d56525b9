// SUGGEST: loop-fusion
// Two loops call the same search, which is inlined into both, over what another thread wrote.
#define T 4
#define N 2000

double sums[N], first[N], second[N];

static inline int find(const double *sum, double wanted) {
    int at = 0;
    while (at < N - 1 && sum[at] < wanted)
        at++;
    return at;
}

int main(void) {
    for (int k = 0; k < 3; k++) {
        for (int i = 0; i < N; i++)
            sums[i] = i + k;
#pragma omp parallel num_threads(T)
        {
#pragma omp for schedule(static)
            for (int i = 0; i < N; i++)
                first[i] = find(sums, i * 0.9);
#pragma omp for schedule(static)
            for (int i = 0; i < N; i++)
                second[i] = 2 * find(sums, i * 0.9);
        }
    }
    return first[3] + second[5] == 0;
}
