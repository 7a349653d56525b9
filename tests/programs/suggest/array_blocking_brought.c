// REFUSE: array-blocking
// Threads update accounts that come in no order, each in two steps: the second goes over the row that the first has
// just read. It is in the nearest cache, and no tile makes the next use of the same account come sooner.
#include <pthread.h>

#define T 2
#define ACCOUNTS 4000
#define DAYS 48
#define TURNS 20
#define UPDATES 4000

static double accounts[ACCOUNTS][DAYS];
static int days = DAYS;
static pthread_barrier_t turn_ends;
static pthread_mutex_t locks[ACCOUNTS];

static void *update(void *p) {
    unsigned long key = (unsigned long)p + 1;
    for (int turn = 0; turn < TURNS; turn++) {
        for (int i = 0; i < UPDATES; i++) {
            key = key * 6364136223846793005ul + 1442695040888963407ul;
            unsigned long number = (key >> 33) % ACCOUNTS;
            double *account = accounts[number], sum = 1;
            pthread_mutex_lock(&locks[number]);
            for (int day = 0; day < days; day++)
                sum += account[day];
            for (int day = 0; day < days; day++)
                account[day] += 1 / sum;
            pthread_mutex_unlock(&locks[number]);
        }
        pthread_barrier_wait(&turn_ends);
    }
    return p;
}

int main(int argc, char **argv) {
    pthread_t threads[T];
    if (argc > 1)
        days = argv[1][0] % DAYS;
    pthread_barrier_init(&turn_ends, 0, T);
    for (int i = 0; i < ACCOUNTS; i++)
        pthread_mutex_init(&locks[i], 0);
    for (long t = 0; t < T; t++)
        pthread_create(&threads[t], 0, update, (void *)t);
    for (int t = 0; t < T; t++)
        pthread_join(threads[t], 0);
    return accounts[0][0] < 0;
}
