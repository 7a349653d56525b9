// SUGGEST: false-sharing
// OBJECT: hits
// THREADTALK: memory,control
// Counters side by side, added to in a function that is inlined into one that is no loop and is called often, as a lambda is
// that a container's function takes: no block of the program is its own, and its entries are not counted. That it runs often
// is known from the values that it reads.
#include <omp.h>

#define T 4
#define N 200000
#define VALUES 1024

static long hits[T];
long values[VALUES];

static inline void add(int me, const long *value) {
    *(volatile long *)&hits[me] += *value;
}

__attribute__((noinline)) static void apply(int me, int at) {
    add(me, &values[at]);
}

int main(void) {
    for (int i = 0; i < VALUES; i++)
        values[i] = i;
#pragma omp parallel num_threads(T)
    {
        int me = omp_get_thread_num();
        for (int i = 0; i < N; i++)
            apply(me, i * 7 % VALUES);
    }
    return hits[0] == 1;
}
