// SUGGEST: synchronisation
// SAYS: it waits for another one
// THREADTALK: memory,control
// As `synchronisation_waiting.c`, but the look is a function's that is inlined into the loop. Entries of it are not
// counted; that the thread waited is known from the loop.
#include <omp.h>
#include <sched.h>
#include <stdatomic.h>

#define STEPS 200

_Alignas(64) atomic_int turn;
volatile int work;

static inline int is_over(void) {
    return atomic_load(&turn) >= STEPS;
}

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
            while (!is_over()) {
            }
        }
    }
    return 0;
}
