// Two iterations' loads of `sq` leave the loop over m and become one of a vector, which has no place in the source. Neither has the difference that
// they are for: what is done with that has.
// THREADS: 2
// FLAGS: -fopenmp
// LET: N = 200
// EXPECT: raw lines written -> read = (N / 2 + 2) * N * 2
// EXPECT: raw in own omp_for main@rows = 0
// EXPECT: raw in own omp_parallel main@team = 0
enum { N = 200 };
static double sq[N + 2][N], r[N + 2][N][5];

int main(void) {
    for (int j = 0; j < N + 2; j++)
        for (int i = 0; i < N; i++)
            sq[j][i] = j * 3 + i * 0.5; /*@written*/
#pragma omp parallel num_threads(2) /*@team*/
    {
#pragma omp for schedule(static) /*@rows*/
        for (int j = 1; j <= N; j++)
            for (int i = 0; i < N; i++) for (int m = 0; m < 5; m++) r[j][i][m] += 0.01 * (sq[j + 1][i] - sq[j - 1][i]); /*@read*/
    }
    return r[3][3][1] == 77;
}
