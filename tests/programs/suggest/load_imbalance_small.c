// REFUSE: load-imbalance
// THREADTALK: memory,control
// Iterations become longer and longer, but next to a section that takes all the time this is nothing.
#define T 4
#define N 400

double sinks[N];

static double spin(int rounds) {
    double x = 1;
    for (int i = 0; i < rounds; i++)
        x = x * 0.5 + i;
    return x;
}

int main(void) {
    for (int k = 0; k < 5; k++) {
#pragma omp parallel for schedule(static) num_threads(T)
        for (int i = 0; i < N; i++)
            sinks[i] += spin(i * 10);
    }
#pragma omp parallel for schedule(static) num_threads(T)
    for (int i = 0; i < N; i++)
        sinks[i] += spin(400000);
    return sinks[N - 1] == 0;
}
