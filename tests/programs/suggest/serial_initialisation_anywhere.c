// REFUSE: serial-initialisation
// main fills a table in which threads look up what they come across: no thread has a part of it, and no page a user.
#include <stdlib.h>

#define T 3
#define BITS 17
#define N 50000

int main(void) {
    unsigned *table = malloc(sizeof *table << BITS);
    unsigned long found[T];
    for (int i = 0; i < 1 << BITS; i++)
        table[i] = i * 7;
#pragma omp parallel for schedule(static) num_threads(T)
    for (int t = 0; t < T; t++) {
        unsigned long key = 77 + t, sum = 0;
        for (int i = 0; i < N; i++) {
            key = key * 6364136223846793005ul + 1442695040888963407ul;
            sum += table[key >> (64 - BITS)];
        }
        found[t] = sum;
    }
    int failed = found[0] == 0;
    free(table);
    return failed;
}
