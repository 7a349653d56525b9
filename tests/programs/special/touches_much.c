// Touches 512 MiB, a word in every 16 KiB: twice what the default budget has cells for. Worker 2 reads all of it once.
#include "team.h"
#include <sys/mman.h>

enum { CHUNKS = 32768 };

static void *fill(void *region) {
    for (int i = 0; i < CHUNKS; i++)
        *(volatile int *)((char *)region + ((size_t)i << 14)) = i;
    return NULL;
}

static void *look(void *region) {
    for (int i = 0; i < CHUNKS; i++)
        USE(*(volatile int *)((char *)region + ((size_t)i << 14)));
    return NULL;
}

int main(void) {
    size_t bytes = (size_t)CHUNKS << 14;
    void *region = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (region == MAP_FAILED)
        return 1;
    one(fill, region);
    one(look, region);
    return 0;
}
