// SUGGEST: false-sharing
// SAYS: sums
// The counters begin in the cache line in which an array ends: each thread's are shared with the others', whatever the
// array does.
#define T 4
#define N 4096

static struct {
    _Alignas(64) long values[N + 4];
    long sums[T];
} all;

int main(void) {
#pragma omp parallel for num_threads(T) schedule(static)
    for (long i = 0; i < N + 4; i++) {
        all.values[i] = i;
    }
#pragma omp parallel for num_threads(T) schedule(static)
    for (long k = 0; k < T; k++) {
        for (long i = 0; i < 100000; i++) {
            *(volatile long *)&all.sums[k] += all.values[(i + k) % N];
        }
    }
    return all.sums[3] == 1;
}
