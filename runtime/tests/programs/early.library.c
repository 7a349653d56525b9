// A constructor that runs before the program's, in a library that the runtime knows nothing of.
#include <pthread.h>
#include <stdlib.h>

static void *work(void *argument) { return argument; }

__attribute__((constructor)) static void early(void) {
    pthread_t thread;
    free(malloc(777));
    pthread_create(&thread, NULL, work, NULL);
    pthread_join(thread, NULL);
}
int early_library(void) { return 0; }
