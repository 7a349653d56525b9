// REFUSE: false-sharing
// All threads add to elements here and there: cache lines travel because the sums do, and padding would not keep one back.
#define T 4
#define N 65536

long sums[N];

int main(void) {
#pragma omp parallel for num_threads(T) schedule(static)
    for (long k = 0; k < 8 * N; k++) {
        unsigned long at = (unsigned long)k * 0x9e3779b97f4a7c15ul >> 48;
#pragma omp atomic
        sums[at] += k;
    }
    return sums[3] == 1;
}
