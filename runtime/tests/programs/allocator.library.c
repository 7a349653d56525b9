// An allocator in a library, in the manner of jemalloc: it tells the size of its blocks and has its own operator delete.
#define _GNU_SOURCE
#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>

static _Atomic(size_t) used;
static char *_Atomic pool;

static char *memory(void) {
    if (!pool) pool = mmap(NULL, 64 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return pool;
}

void *malloc(size_t bytes) {
    size_t whole = ((bytes + 31) & ~(size_t)31) + 32;
    size_t at = __atomic_fetch_add((size_t *)&used, whole, __ATOMIC_RELAXED);
    if (bytes > 64 << 20 || at + whole > 64 << 20) return errno = ENOMEM, NULL;
    char *block = memory() + at + 32;
    ((size_t *)block)[-1] = whole - 32;
    ((size_t *)block)[-2] = 0x600d;
    return block;
}
void free(void *block) {
    if (block && ((size_t *)block)[-2]-- != 0x600d) __builtin_trap();
}
void *calloc(size_t n, size_t bytes) { return malloc(n * bytes); }
#ifndef SILENT
size_t malloc_usable_size(void *block) { return block ? ((size_t *)block)[-1] : 0; }
#endif
void *realloc(void *old, size_t bytes) {
    void *block = malloc(bytes);
    size_t before = old ? ((size_t *)old)[-1] : 0;
    if (block && old) memcpy(block, old, before < bytes ? before : bytes), free(old);
    return block;
}
void *aligned_alloc(size_t alignment, size_t bytes) { return alignment <= 32 ? malloc(bytes) : NULL; }
void _ZdlPv(void *block) { free(block); }
