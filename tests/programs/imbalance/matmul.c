// Multiplication of matrices whose rows are dealt out to threads: the program of Figure 1 in Kambadur et al. (IISWC 2012).
#include <pthread.h>
#include <stdio.h>

enum { N = 60, THREADS = 4 };

static double a[N][N], b[N][N], c[N][N];

static void *worker(void *argument)
{
    long me = (long)argument;
    for (long i = me; i < N; i += THREADS)
        for (long j = 0; j < N; j++) {
            double sum = 0;
            for (long k = 0; k < N; k++)
                sum += a[i][k] * b[k][j]; // inner
            c[i][j] = sum; // element
        }
    return NULL;
}

int main(void)
{
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            a[i][j] = i + j; // init
            b[i][j] = i - j;
        }
    pthread_t threads[THREADS];
    for (long i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, worker, (void *)i);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    return c[1][2] == 0.5;
}
