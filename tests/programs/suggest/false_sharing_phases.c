// REFUSE: false-sharing
// Each thread fills a block of its own; behind a barrier others overwrite some of its elements. Nobody shared a cache line
// while the first loop wrote, and the second one writes each line from one thread.
#define T 4
#define N 65536

long table[N];

int main(void) {
#pragma omp parallel num_threads(T)
    for (int round = 0; round < 20; round++) {
#pragma omp for schedule(static)
        for (int i = 0; i < N; i++)
            table[i] = i + round;
#pragma omp for schedule(static)
        for (int line = 0; line < N / 8; line++)
            table[(line * 8 + N / 2) % N] = line;
    }
    return table[3] == 1;
}
