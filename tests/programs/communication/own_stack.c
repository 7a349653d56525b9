// A stack that the program gives to its threads is the program's memory: it outlives them, but their variables do not.
// THREADS: 3
// LET: N = 64
// EXPECT: raw = 0
// EXPECT: rar = 0
#include "team.h"

enum { N = 64, BYTES = 1 << 18 };
static char stack[BYTES] __attribute__((aligned(4096)));
static volatile int *volatile escaped;

static void *body(void *fill) {
    volatile int words[N];
    escaped = words;
    if (fill != NULL)
        for (int i = 0; i < N; i++)
            words[i] = i;
    else
        for (int i = 0; i < N; i++)
            USE(words[i]);
    return NULL;
}

int main(void) {
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstack(&attributes, stack, BYTES);
    for (intptr_t fill = 1; fill >= 0; fill--) {
        pthread_t thread;
        if (pthread_create(&thread, &attributes, body, (void *)fill) != 0)
            return 1;
        pthread_join(thread, NULL);
    }
    return 0;
}
