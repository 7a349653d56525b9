// SUGGEST: synchronisation
// SAYS: it waits for another one
// OBJECT: turn
// One thread passes a turn on after some work; the other one looks for it again and again meanwhile.
#include <omp.h>
#include <sched.h>
#include <stdatomic.h>

#define STEPS 200

_Alignas(64) atomic_int turn;
volatile int work;

int main(void) {
#pragma omp parallel num_threads(2)
    {
#pragma omp barrier
        if (omp_get_thread_num() == 0) {
            for (int step = 0; step < STEPS; step++) {
                for (int i = 0; i < 200000; i++)
                    work = i;
                atomic_store(&turn, step + 1);
                // On a busy machine it is the other one's turn to run.
                sched_yield();
            }
        } else {
            while (atomic_load(&turn) < STEPS) {
            }
        }
    }
    return 0;
}
