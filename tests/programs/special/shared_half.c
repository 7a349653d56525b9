// A shared library: its own buffer, filled and read by functions that the program calls from different threads.
#include "team.h"

enum { N = 100 };
static volatile int inside[N];

void *library_fill(void *unused) {
    for (int i = 0; i < N; i++)
        inside[i] = i;
    return unused;
}

void *library_take(void *unused) {
    for (int i = 0; i < N; i++)
        USE(inside[i]);
    return unused;
}
