// REFUSE: false-sharing
// THREADTALK: memory,control
// Results side by side, 2000 in all, of which each takes a fifth of a millisecond to compute: that their lines move costs
// less than a thousandth of it.
#define T 2
#define N 2000

long results[N];

int main(void) {
#pragma omp parallel for schedule(static, 1) num_threads(T)
    for (int i = 0; i < N; i++) {
        double x = i;
        for (int k = 0; k < 100000; k++)
            x = x * .9999 + k;
        results[i] = (long)x;
    }
    return results[0] == 1;
}
