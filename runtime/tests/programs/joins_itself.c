// Joining oneself is refused and changes nothing (some benchmarks end with it).
// stdout: EDEADLK
// count: 0 thread_gone
#include <errno.h>
#include <pthread.h>
#include <stdio.h>

int main(void) {
    if (pthread_join(pthread_self(), NULL) == EDEADLK) puts("EDEADLK");
    return 0;
}
