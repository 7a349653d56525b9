// A function of a line or two keeps its region where that is a construct; what another one reads belongs to the loop that calls it.
// FLAGS: -fopenmp
// RUNS: 1
// LEVELS: O2, O3
// THREADS: 4
// LET: N = 64
// EXPECT: raw sum in omp_critical read_alone = 3 * N
// EXPECT: raw sum in omp_for main@loop = 3 * N / 4
#include "team.h"

enum { N = 64 };

struct Table {
    volatile int words[N];
    int read(int at) const { return words[at]; }
};

static Table one_by_one, divided;

static void read_alone(int at) {
#pragma omp critical
    USE(one_by_one.words[at]); }

int main() {
    for (int i = 0; i < N; i++)
        one_by_one.words[i] = divided.words[i] = i;
#pragma omp parallel num_threads(4)
    {
        for (int i = 0; i < N; i++)
            read_alone(i);
#pragma omp for schedule(static) /*@loop*/
        for (int i = 0; i < N; i++)
            USE(divided.read(i));
    }
    return 0;
}
