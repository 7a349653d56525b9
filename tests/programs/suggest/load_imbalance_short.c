// REFUSE: load-imbalance
// THREADTALK: memory,control
// Iterations become longer and longer, but what balance could save is less than a hundredth of the run.
#include <unistd.h>
#define T 8
#define N 400

double sinks[N];

static double spin(int rounds) {
    double x = 1;
    for (int i = 0; i < rounds; i++)
        x = x * 0.5 + i;
    return x;
}

int main(void) {
    usleep(500000);
#pragma omp parallel for schedule(static) num_threads(T)
    for (int i = 0; i < N; i++)
        sinks[i] += spin(i * 10);
    return sinks[N - 1] == 0;
}
