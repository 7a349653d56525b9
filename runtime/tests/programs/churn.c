// 10 000 threads created and joined, up to 8 at a time.
// linkage: archive preload static
// count: 10000 thread_created
// count: 10000 thread_started
// count: 10000 thread_ended
// count: 10000 thread_gone
// trace: process_exit 1 0
#include <pthread.h>
#include <stdlib.h>

static void *work(void *argument) {
    free(malloc((size_t)argument % 100 + 1));
    return argument;
}

int main(void) {
    for (long round = 0; round < 1250; round++) {
        pthread_t threads[8];
        for (long i = 0; i < 8; i++)
            if (pthread_create(&threads[i], NULL, work, (void *)(round + i))) return 1;
        for (long i = 0; i < 8; i++) {
            void *result;
            if (pthread_join(threads[i], &result) || result != (void *)(round + i)) return 2;
        }
    }
    return 0;
}
