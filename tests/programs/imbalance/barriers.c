// Regions whose threads meet at barriers inside: each part between two of them has a share of its own. The first thread
// works before each region.
#include <omp.h>

static volatile long sink;

__attribute__((noinline)) static void work(long amount) {
    for (long i = 0; i < amount; i++)
        sink = i;
}

int main(void) {
    const long unit = 1000;
    for (int instance = 0; instance < 3; instance++) {
        work(50 * unit); // of no region
#pragma omp parallel num_threads(4)
        {
            long me = omp_get_thread_num();
            work(unit * (1 + me)); // 1, 2, 3, 4
#pragma omp barrier // 1
            work(unit * 5); // 5 each
#pragma omp barrier // 2
            work(unit * (4 - me)); // 4, 3, 2, 1
        }
        work(70 * unit); // of no region
#pragma omp parallel for num_threads(4)
        for (int me = 0; me < 4; me++)
            work(unit * (me == 3 ? 9 : 3)); // 3, 3, 3, 9
    }
    return 0;
}
