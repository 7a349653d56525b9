// Mappings: unmapped, mapped over, thrown away, moved, shrunk.
// trace: clear_range 4096
// trace: clear_range 8192
// trace: clear_range 12288
// trace: clear_range 16384
// trace: copy_range 20480
// trace: clear_range 20480
// trace: clear_range 24576
// trace: clear_range 28672
// stdout: refused
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <unistd.h>

static char *map(size_t bytes) {
    char *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memset(p, 1, bytes);
    return p;
}

int main(void) {
    munmap(map(4096), 4096);
    char *p = map(8192);
    if (mmap(p, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != p || p[0]) return 1;
    char *q = map(12288);
    if (madvise(q, 12288, MADV_DONTNEED) || q[5] || madvise(q, 12288, MADV_WILLNEED)) return 2;
    char *r = map(20480 + 16384);
    if (mremap(r, 20480 + 16384, 20480, 0) != r) return 3;
    char *target = map(20480);
    munmap(target, 20480); /* one more line of 20480 that the order above allows */
    char *moved = mremap(r, 20480, 20480, MREMAP_MAYMOVE | MREMAP_FIXED, target);
    if (moved != target || moved[20479] != 1) return 4;
    if (munmap((char *)1, 4096)) puts("refused");
    int id = shmget(IPC_PRIVATE, 24576, IPC_CREAT | 0600);
    void *segment = shmat(id, NULL, 0);
    shmctl(id, IPC_RMID, NULL);
    if (segment == (void *)-1 || shmdt(segment)) return 5;
    if (sbrk(28672) == (void *)-1 || sbrk(-28672) == (void *)-1) return 6;
    return 0;
}
