// SUGGEST: load-imbalance
// THREADTALK: memory,control
// SAYS: one piece more than the others
// Six equal pieces for four threads: two have two of them and two have one, whatever the schedule.
#define T 4
#define N 200000

double sums[8][8];

int main(void) {
#pragma omp parallel num_threads(T)
    for (int round = 0; round < 10; round++) {
#pragma omp for schedule(static, 1)
        for (int piece = 0; piece < 6; piece++) {
            volatile double sum = 0;
            for (int i = 0; i < N; i++)
                sum += i * 0.5;
            sums[piece][0] = sum;
        }
    }
    return sums[1][0] == 1;
}
