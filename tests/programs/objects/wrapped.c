// A function that allocates for the program is not who made the blocks: they are its callers', inlined or not, and also
// through two such functions, and if they get what lies behind a header or the next address that is aligned. What it makes
// of a size of its own stays its own, and what is given back because it suffices stays that of who made it.
// THREADS: 2
// LEVELS: O0, O1, O2, O3
// LET: N = 3000
// EXPECT: raw object heap left = N
// EXPECT: raw object heap right = 2 * N
// EXPECT: raw object heap grid = 3 * N
// EXPECT: raw object heap aligned = N
// EXPECT: raw object heap paged = N
// EXPECT: raw object heap stored = 0
// EXPECT: raw object heap rounded = N
// EXPECT: raw object heap behind = N
// EXPECT: raw object heap kept = N
// EXPECT: raw object heap again = 0
// EXPECT: raw object heap original = 0
// EXPECT: raw object heap status = 0
// EXPECT: raw object heap table >= 3 * N
// EXPECT: raw object heap table <= 3 * N + 6
// EXPECT: raw object heap n = 12
// EXPECT: raw object heap made = 0
// EXPECT: raw object heap block = 0
// EXPECT: raw object pointer = 0
// OPTIONS: objects=1
#include "team.h"

enum { N = 3000 };
struct node {
    volatile int value;
    struct node *next;
};
struct grid {
    volatile int *cells;
};
static volatile int *left, *right, *rounded, *behind, *kept, *again;
static struct node *list;
static struct grid grid;

static NOINLINE void *xmalloc(size_t bytes) {
    void *made = malloc(bytes);
    if (!made)
        abort();
    return made;
}

static NOINLINE void *alloc_numbers(size_t n) {
    void *block = xmalloc(n * sizeof(int));
    return block;
}

static NOINLINE void *alloc_rounded(size_t bytes) {
    char *original = xmalloc(bytes + 64);
    return original + 64 - (uintptr_t)original % 64;
}

static NOINLINE void *alloc_behind(size_t bytes) {
    size_t *original = malloc(bytes + 2 * sizeof *original);
    if (!original)
        abort();
    *original = bytes;
    return original + 2;
}

static NOINLINE void *alloc_counted(size_t bytes) { return alloc_behind(bytes); }

static NOINLINE void *alloc_again(volatile void *old, size_t has, size_t bytes) {
    return has >= bytes ? (void *)old : xmalloc(bytes);
}

static inline void *inline_alloc(size_t bytes) {
    void *made = malloc(bytes);
    if (!made)
        abort();
    return made;
}

static inline void *paged_alloc(size_t bytes) {
    void *stored = NULL;
    if (posix_memalign(&stored, 4096, bytes) || !stored)
        abort();
    return stored;
}

static NOINLINE struct node *node(void) {
    struct node *n = xmalloc(sizeof *n);
    n->value = 1;
    return n;
}

static NOINLINE int total(const volatile int *row, int n) {
    int sum = 0;
    for (int i = 0; i < n; i++)
        sum += row[i];
    return sum;
}

static int *aligned;
static volatile int *paged;
static volatile int **table;

static void *work(void *unused) {
    USE(total(aligned, N));
    USE(total(paged, N));
    for (int i = 0; i < 3; i++)
        USE(total(table[i], N));
    USE(total(left, N));
    USE(total(rounded, N));
    USE(total(behind, N));
    USE(total(again, N));
    USE(total(right, 2 * N));
    USE(total(grid.cells, 3 * N));
    for (struct node *n = list; n; n = n->next)
        USE(n->value);
    return unused;
}

static NOINLINE void fill(volatile int *row, int n) {
    for (int i = 0; i < n; i++)
        row[i] = i;
}

int main(void) {
    left = alloc_numbers(N);
    // Of functions that always get one size the compiler drops the parameter.
    USE(alloc_numbers(9));
    USE(alloc_rounded(9));
    USE(alloc_counted(9));
    right = xmalloc(2 * N * sizeof *right);
    volatile size_t has = N * sizeof *kept;
    kept = xmalloc(has);
    again = alloc_again(kept, has, has);
    rounded = alloc_rounded(N * sizeof *rounded);
    behind = alloc_counted(N * sizeof *behind);
    grid.cells = inline_alloc(3 * N * sizeof(int));
    table = inline_alloc(3 * sizeof *table);
    for (int i = 0; i < 3; i++) {
        table[i] = inline_alloc(N * sizeof(int));
        fill(table[i], N);
    }
    int status = posix_memalign((void **)&aligned, 64, N * sizeof *aligned);
    if (status)
        return status;
    fill(aligned, N);
    paged = paged_alloc(N * sizeof *paged);
    fill(paged, N);
    fill(left, N);
    fill(rounded, N);
    fill(behind, N);
    fill(kept, N);
    fill(right, 2 * N);
    fill(grid.cells, 3 * N);
    for (int i = 0; i < 4; i++) {
        struct node *next = node();
        next->next = list;
        list = next;
    }
    one(work, NULL);
    return 0;
}
