// SUGGEST: loop-fusion
// OBJECT: weights
// The first loop reads all three members of each structure, the second one of them: other names for the same memory.
#define T 4
#define N 40000

struct {
    double x, y, z;
} weights[N];
double first[N], second[N];

int main(void) {
#pragma omp parallel num_threads(T)
    for (int k = 0; k < 3; k++) {
#pragma omp for schedule(static)
        for (int i = 0; i < N; i++)
            weights[N - 1 - i].x = weights[N - 1 - i].y = weights[N - 1 - i].z = i * 0.5 + k;
#pragma omp for schedule(static)
        for (int i = 0; i < N; i++)
            first[i] = weights[i].x + weights[i].y + weights[i].z;
#pragma omp for schedule(static)
        for (int i = 0; i < N; i++)
            second[i] = weights[i].x * 2;
    }
    return first[3] + second[5] == 0;
}
