// SUGGEST: loop-reordering
// OBJECT: f.a
// The array is a member of a structure: the compiler reads its address again for each column.
#include <stdlib.h>

#define T 4

struct field {
    double *a, *sums;
};

__attribute__((noinline)) static void sum_columns(const struct field *f, int n) {
#pragma omp for schedule(static)
    for (int j = 0; j < n; j++) {
        double sum = 0;
        for (int i = 0; i < n; i++)
            sum += f->a[i * n + j];
        f->sums[j] = sum;
    }
}

__attribute__((noinline)) static void fill(const struct field *f, int n, int k) {
#pragma omp for schedule(static)
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            f->a[i * n + j] = i + j + k;
}

int main(int argc, char **argv) {
    int n = 255 + argc;
    struct field f = {malloc((size_t)(n * n) * sizeof(double)), malloc((size_t)n * sizeof(double))};
#pragma omp parallel num_threads(T)
    for (int k = 0; k < 4; k++) {
        fill(&f, n, k);
        sum_columns(&f, n);
    }
    return f.sums[3] == 0;
}
