// REFUSE: false-sharing
// THREADTALK: memory,control
// Requests are handed to and fro between two threads: what is asked passes through the cache lines in which both write more,
// so each hand-over takes these lines along anyhow.
#include <omp.h>

#define REQUESTS 64
#define STEPS 100

struct request {
    _Alignas(64) volatile long flags;
    volatile long asked, sent;
};

struct request requests[REQUESTS];
volatile long total;

int main(void) {
#pragma omp parallel num_threads(2)
    for (int step = 0; step < STEPS; step++) {
        if (omp_get_thread_num() == 0)
            for (int i = 0; i < REQUESTS; i++) {
                requests[i].asked = i;
                requests[i].flags = step;
            }
#pragma omp barrier
        if (omp_get_thread_num() == 1)
            for (int i = 0; i < REQUESTS; i++) {
                total += requests[i].asked;
                requests[i].sent = step;
            }
#pragma omp barrier
    }
    return total == 0;
}
