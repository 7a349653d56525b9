// `_exit` runs no handlers.
// status: 3
// trace: process_exit 0 3
// count: 1 process_exit
// linkage: archive lld preload static
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void handler(void) { puts("must not run"); }

int main(void) {
    atexit(handler);
    printf("is not flushed");
    _exit(0x103);
}
