// One loop, two times: first it goes over all that main wrote, then only over the beginning.
#include <pthread.h>

#define ALL 8000
#define BEGINNING 3000

static int values[ALL];
static volatile long sum;

__attribute__((noinline)) static void sweep(int from, int to) {
    for (int i = from; i < to; i++)
        sum += values[i * 7 % to]; // no stream: each element is looked up by itself
}

static void *reader(void *unused) {
    for (int i = 0; i < 40; i++)
        sweep(0, ALL);
    for (int i = 0; i < 250; i++)
        sweep(0, BEGINNING);
    return unused;
}

int main(void) {
    for (int i = 0; i < ALL; i++)
        values[i] = i;
    pthread_t thread;
    pthread_create(&thread, NULL, reader, NULL);
    pthread_join(thread, NULL);
    return 0;
}
