// One word in each GiB of a reserved region of 48 GiB: cells are made where memory is touched, not for what lies between.
// THREADS: 3
// LET: N = 48
// EXPECT: raw = N if w == 1 && r == 2
// EXPECT: rar = N if w == 1 && r == 2
#include "team.h"
#include <sys/mman.h>

enum { N = 48 };
static const size_t GIB = (size_t)1 << 30;

static void *fill(void *region) {
    for (int i = 0; i < N; i++)
        *(volatile int *)((char *)region + i * GIB + 64 * i) = i;
    return NULL;
}

static void *look(void *region) {
    for (int sweep = 0; sweep < 2; sweep++)
        for (int i = 0; i < N; i++)
            USE(*(volatile int *)((char *)region + i * GIB + 64 * i));
    return NULL;
}

int main(void) {
    void *region = mmap(NULL, N * GIB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (region == MAP_FAILED)
        return 1;
    one(fill, region);
    one(look, region);
    return 0;
}
