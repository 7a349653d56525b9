// OpenMP hands a shared array of the stack to its outlined functions as a pointer: the array's name and kind stay.
// THREADS: 4
// FLAGS: -fopenmp
// LEVELS: O0, O1, O2
// LET: N = 20000
// EXPECT: raw object stack grid = N
// EXPECT: raw object pointer = 0
#include <omp.h>

#define N 20000

int main(void) {
    volatile int grid[N];
#pragma omp parallel num_threads(4)
    {
        int me = omp_get_thread_num();
        for (int i = me * (N / 4); i < (me + 1) * (N / 4); i++)
            grid[i] = i;
#pragma omp barrier
        int next = (me + 1) % 4, wrong = 0;
        for (int i = next * (N / 4); i < (next + 1) * (N / 4); i++)
            wrong |= grid[i] != i;
        if (wrong)
            __builtin_abort();
    }
    return 0;
}
