// SUGGEST: synchronisation
// SAYS: looks at `turn`
// OBJECT: turn
// As `synchronisation_waiting.c`, with a volatile flag, as programs had them before there were atomic ones.
#include <omp.h>
#include <sched.h>

#define STEPS 200

_Alignas(64) volatile int turn;
volatile int work;

int main(void) {
#pragma omp parallel num_threads(2)
    {
#pragma omp barrier
        if (omp_get_thread_num() == 0) {
            for (int step = 0; step < STEPS; step++) {
                for (int i = 0; i < 200000; i++)
                    work = i;
                turn = step + 1;
                // On a busy machine it is the other one's turn to run.
                sched_yield();
            }
        } else {
            while (turn < STEPS) {
            }
        }
    }
    return 0;
}
