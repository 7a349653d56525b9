// A program with an allocator of its own keeps it.
// stdout: 3 3
// count: 0 clear_range 64
// linkage: archive lld
#include <stddef.h>
#include <stdio.h>
#include <string.h>

static char pool[1 << 20];
static size_t used, blocks, freed;

void *malloc(size_t bytes) {
    void *p = pool + used;
    used += (bytes + 63) & ~(size_t)63;
    blocks++;
    return p;
}
void *calloc(size_t n, size_t bytes) { return malloc(n * bytes); }
void *realloc(void *old, size_t bytes) { return old ? memcpy(malloc(bytes), old, bytes) : malloc(bytes); }
void free(void *p) { freed += p != NULL; }

int main(void) {
    setvbuf(stdout, NULL, _IONBF, 0);
    blocks = freed = 0;
    for (int i = 0; i < 3; i++) free(malloc(60));
    printf("%zu %zu\n", blocks, freed);
    return 0;
}
