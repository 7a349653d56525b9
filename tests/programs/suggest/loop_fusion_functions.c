// SUGGEST: loop-fusion
// OBJECT: weights
// The two loops are in functions that every thread calls by turns.
#define T 4
#define N 40000

double weights[N], first[N], second[N];

__attribute__((noinline)) static void fill(int k) {
#pragma omp for schedule(static)
    for (int i = 0; i < N; i++)
        weights[N - 1 - i] = i * 0.5 + k;
}

__attribute__((noinline)) static void twice(void) {
#pragma omp for schedule(static)
    for (int i = 0; i < N; i++)
        first[i] = weights[i] * 2;
}

__attribute__((noinline)) static void more(void) {
#pragma omp for schedule(static)
    for (int i = 0; i < N; i++)
        second[i] = weights[i] + 3;
}

int main(void) {
#pragma omp parallel num_threads(T)
    for (int k = 0; k < 3; k++) {
        fill(k);
        twice();
        more();
    }
    return first[3] + second[5] == 0;
}
