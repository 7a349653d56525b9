// While others exist, a small block that must grow is moved in an order that they cannot disturb; a large one is the allocator's.
// trace: thread_created 1
// trace: copy_range 1000
// trace: clear_range 1000
// count: 1 copy_range
// stdout: kept 2
#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void *work(void *argument) {
    for (;;) pause();
    return argument;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, work, NULL);
    char *small = malloc(1000);
    memset(small, 'k', 1000);
    small = realloc(small, 2000);
    int kept = small[0] == 'k' && small[999] == 'k';
    errno = 0;
    void *none = realloc(small, PTRDIFF_MAX);
    kept += !none && errno == ENOMEM && small[500] == 'k';
    printf("kept %d\n", kept);
    return 0;
}
