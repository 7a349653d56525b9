// The C library's readers and writers of memory count as the caller's accesses, one event for each granule of what they touch.
// LEVELS: O0, O2, O3, O2 -D_FORTIFY_SOURCE=2, O2 -D_FORTIFY_SOURCE=3 -fno-builtin
// THREADS: 3
// STDOUT: 27 0 1
// LET: TEXT = 7
// LET: N = 100
// EXPECT: raw in string_length = TEXT if w == 1 && r == 2
// EXPECT: raw in compare = TEXT if w == 1 && r == 2
// EXPECT: raw in compare_bytes = N if w == 1 && r == 2
// EXPECT: raw in duplicate = TEXT if w == 1 && r == 2
// EXPECT: raw in look_set = N if w == 1 && r == 2
// EXPECT: rar = 0
#include "team.h"
#include <string.h>

enum { N = 100 };
static char measured[64] __attribute__((aligned(64))), compared[64] __attribute__((aligned(64)));
static char copied[64] __attribute__((aligned(64)));
static int numbers[N], set[N], mine[N];
static const char *volatile text = "twenty-seven characters are";

static void *write(void *unused) {
    const char *t = text;
    strcpy(measured, t);
    strncpy(compared, t, 28);
    memcpy(copied, t, strlen(t) + 1);
    for (int i = 0; i < N; i++)
        ((volatile int *)numbers)[i] = 0;
    memset(set, 1, sizeof set);
    FENCE();
    return unused;
}

NOINLINE size_t string_length(const char *s) { return strlen(s); }
NOINLINE int compare(const char *s) { return strcmp(s, "twenty-seven characters are"); }
NOINLINE int compare_bytes(const int *words, const int *with) { return memcmp(words, with, N * sizeof(int)) == 0; }
NOINLINE char *duplicate(const char *s) { return strdup(s); }
NOINLINE void look_set(void) {
    for (int i = 0; i < N; i++)
        USE(((volatile int *)set)[i]);
}

static void *read(void *unused) {
    char *copy = duplicate(copied);
    printf("%zu %d %d\n", string_length(measured), compare(compared), compare_bytes(numbers, mine));
    free(copy);
    look_set();
    return unused;
}

int main(void) {
    one(write, NULL);
    one(read, NULL);
    return 0;
}
