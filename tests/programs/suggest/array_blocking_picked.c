// REFUSE: array-blocking
// CACHES: 48K,2M
// Threads look up rows that a key picks. Which rows come again, and when, the keys say: there are no tiles to work in.
#define T 4
#define ROWS 500
#define M 256
#define LOOKUPS 20000

static double rows[ROWS][M];

int main(void) {
    double total = 0;
#pragma omp parallel for schedule(static, 1) num_threads(T)
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < M; j++)
            rows[i][j] = i * j;
#pragma omp parallel for schedule(static) reduction(+ : total) num_threads(T)
    for (int lookup = 0; lookup < LOOKUPS; lookup++) {
        unsigned long key = lookup * 2862933555777941757ul + 3037000493ul;
        key ^= key >> 29;
        key *= 6364136223846793005ul;
        const double *row = rows[(key >> 33) % ROWS];
        double sum = 0;
        for (int j = 0; j < M; j++)
            sum += row[j];
        total += sum;
    }
    return total == 0;
}
