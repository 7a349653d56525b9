// REFUSE: loop-fusion
// Each thread goes over records that another one wrote, and over each record twice: first for its mean, which the second
// loop needs. The record is in the nearest cache then, however long ago the second loop has used it before.
#define T 2
#define RECORDS 4000
#define N 64

static double records[RECORDS][N];
static int length = N;
double spread[T][8];

int main(int argc, char **argv) {
    if (argc > 1)
        length = argv[1][0] % N;
    for (int turn = 0; turn < 4; turn++) {
#pragma omp parallel for schedule(static) num_threads(T)
        for (int r = 0; r < RECORDS; r++)
            for (int i = 0; i < N; i++)
                records[r][i] = turn + i * r;
#pragma omp parallel for schedule(static) num_threads(T)
        for (int t = 0; t < T; t++)
            for (int pass = 0; pass < 2; pass++)
                for (int k = 0; k < RECORDS; k++) {
                    double *record = records[RECORDS - 1 - k], mean = 0, sum = 0;
                    for (int i = 0; i < length; i++)
                        mean += record[i] / length;
                    for (int i = 0; i < length; i++)
                        sum += (record[i] - mean) * (record[i] - mean);
                    spread[t][0] += sum;
                }
    }
    return spread[0][0] == 0;
}
