// REFUSE: data-affinity-scheduling
// One thread writes, all share the reading: there is no loop whose division could be changed.
#define T 4
#define N 40000

double a[N], b[N];

int main(void) {
    for (int k = 0; k < 4; k++) {
        for (int i = 0; i < N; i++)
            a[i] = i + k;
#pragma omp parallel for schedule(static) num_threads(T)
        for (int i = 0; i < N; i++)
            b[i] = a[i] * 2;
    }
    return b[3] == 0;
}
