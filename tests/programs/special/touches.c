// touches BYTES STEP: worker 1 writes a word every STEP bytes of a mapping of BYTES bytes, worker 2 reads one word in each MiB.
#include "team.h"
#include <sys/mman.h>

static size_t bytes, step;

static void *fill(void *region) {
    for (size_t at = 0; at < bytes; at += step)
        *(int *)((char *)region + at) = 1;
    return NULL;
}

// Worker 1's words at multiples of STEP: STEP divides a MiB.
static void *look(void *region) {
    for (size_t at = 0; at < bytes; at += 1 << 20)
        USE(*(volatile int *)((char *)region + at));
    return NULL;
}

int main(int argc, char **argv) {
    if (argc != 3)
        return 2;
    bytes = strtoull(argv[1], NULL, 10);
    step = strtoull(argv[2], NULL, 10);
    void *region = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (region == MAP_FAILED)
        return 1;
    // The program's own pages are to be those that it touches.
    madvise(region, bytes, MADV_NOHUGEPAGE);
    one(fill, region);
    one(look, region);
    return 0;
}
