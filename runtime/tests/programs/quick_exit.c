// Handlers of quick_exit run before the profile ends.
// status: 6
// stdout: handler
// trace: clear_range 3000
// trace: process_exit 0 6
// count: 1 process_exit
// linkage: archive lld preload static
#include <stdio.h>
#include <stdlib.h>

static void handler(void) {
    puts("handler");
    fflush(stdout);
    free(malloc(3000));
}

int main(void) {
    at_quick_exit(handler);
    quick_exit(6);
}
