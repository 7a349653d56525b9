// REFUSE: synchronisation
// A setting that all threads read all the time and nobody changes: nobody waits for it.
#include <stdatomic.h>

#define T 4

static atomic_ulong least;
unsigned long results[T][64];

int main(void) {
    atomic_store(&least, 1000);
#pragma omp parallel for num_threads(T) schedule(static, 1)
    for (int t = 0; t < T; t++) {
        unsigned long x = t, sum = 0;
        for (int i = 0; i < 200000; i++) {
            x = x * 6364136223846793005ul + 1442695040888963407ul;
            if (x >> 40 > atomic_load_explicit(&least, memory_order_relaxed))
                sum += x >> 33;
        }
        results[t][0] = sum;
    }
    return results[1][0] == 1;
}
