// Threads of <threads.h>: the C library creates them without calling pthread_create by its name.
// THREADS: 4
// LET: N = 100
// EXPECT: raw = N if w == 1 && r == 2; N if w == 2 && r == 3
// EXPECT: rar = 0
#include "team.h"
#include <threads.h>

enum { N = 100 };
static volatile int first[N], second[N];

static int give(void *unused) {
    for (int i = 0; i < N; i++)
        first[i] = i;
    return unused != NULL;
}

static int pass_on(void *unused) {
    for (int i = 0; i < N; i++)
        second[i] = first[i];
    return unused != NULL;
}

static int take(void *unused) {
    for (int i = 0; i < N; i++)
        USE(second[i]);
    return unused != NULL;
}

int main(void) {
    thrd_start_t work[] = {give, pass_on, take};
    for (int k = 0; k < 3; k++) {
        thrd_t thread;
        if (thrd_create(&thread, work[k], NULL) != thrd_success)
            return 1;
        thrd_join(thread, NULL);
    }
    return 0;
}
