// REFUSE: loop-fusion
// The same function in both loops, but over an array of its own in each.
#define T 4
#define N 2000

double ups[N], downs[N], first[N], second[N];

static inline int find(const double *sum, double wanted) {
    int at = 0;
    while (at < N - 1 && sum[at] < wanted)
        at++;
    return at;
}

int main(void) {
    for (int k = 0; k < 3; k++) {
        for (int i = 0; i < N; i++)
            ups[i] = i + k;
        for (int i = 0; i < N; i++)
            downs[i] = 2 * i + k;
#pragma omp parallel num_threads(T)
        {
#pragma omp for schedule(static)
            for (int i = 0; i < N; i++)
                first[i] = find(ups, i * 0.9);
#pragma omp for schedule(static)
            for (int i = 0; i < N; i++)
                second[i] = find(downs, i * 0.9);
        }
    }
    return first[3] + second[5] == 0;
}
