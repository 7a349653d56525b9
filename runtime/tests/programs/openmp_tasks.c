// What a thread does for tasks while it waits at the region's end belongs to its part, and it is effective meanwhile;
// the task is a piece of work of its own beside it.
// flags: -fopenmp -DCOUNTERS=1
// environment: OMP_NUM_THREADS=2
// linkage: archive
// profile: counted 1 level 2 id 0: 1000
// profile: part ompparallel thread 1 id 0: 1000
// profile: part omppiece thread 1 id 0: 1000
// profile-count: 2 instance ompparallel
// profile-count: 1 part ompparallel
// profile-count: 1 part omppiece
#include "counters.h"
#include <omp.h>

int main(void) {
    static volatile int done;
#pragma omp parallel
#pragma omp master
    {
        // The primary makes a task and executes none until the worker, which is at the end already, has done it.
#pragma omp task shared(done)
        {
            for (int i = 0; i < 1000; i++)
                COUNT(0);
            done = 1;
        }
        while (!done)
            ;
    }
    return 0;
}
