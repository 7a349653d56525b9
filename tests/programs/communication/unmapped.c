// Elements die with their pages: munmap and a new mapping in the same place, a fixed mapping over an old one, and
// MADV_DONTNEED leave no writer.
// THREADS: 6
// STDOUT: same
// LET: N = 4096
// EXPECT: raw = N / 4 if w == 4 && r == 5
// EXPECT: rar = 0
#include "team.h"
#include <sys/mman.h>

enum { N = 4096, BYTES = N * 4 };

static void *fill(void *pages) {
    volatile int *words = pages;
    for (int i = 0; i < N; i++)
        words[i] = i;
    return NULL;
}

static void *look(void *pages) {
    volatile int *words = pages;
    for (int i = 0; i < N; i++)
        USE(words[i]);
    return NULL;
}

static void *map(void *at, int flags) {
    void *pages = mmap(at, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);
    if (pages == MAP_FAILED)
        abort();
    return pages;
}

int main(void) {
    void *pages = map(NULL, 0), *old = pages;
    one(fill, pages);
    munmap(pages, BYTES);
    pages = map(old, 0);
    one(look, pages);
    one(fill, pages);
    map(pages, MAP_FIXED);
    look(pages);
    one(fill, pages);
    madvise(pages, BYTES / 4 * 3, MADV_DONTNEED);
    one(look, pages);
    puts(pages == old ? "same" : "other");
    return 0;
}
