// More threads at once than the first chunk of the thread table holds; released in the order of creation.
// count: 600 thread_started
// count: 600 thread_gone
// trace: thread_gone 600 1
#include <pthread.h>

static pthread_barrier_t barrier;

static void *work(void *argument) {
    pthread_barrier_wait(&barrier);
    return argument;
}

int main(void) {
    static pthread_t threads[600];
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 64 << 10);
    pthread_barrier_init(&barrier, NULL, 601);
    for (int i = 0; i < 600; i++)
        if (pthread_create(&threads[i], &attributes, work, NULL)) return 1;
    pthread_barrier_wait(&barrier);
    for (int i = 0; i < 600; i++) pthread_join(threads[i], NULL);
    return 0;
}
