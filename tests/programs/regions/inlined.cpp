// Regions are lexical: what is inlined through two callers belongs to the function that it was written in, at every level.
// THREADS: 3
// LET: N = 200
// EXPECT: raw in callee = 2 * N if w == 1 && r == 2
// EXPECT: raw = 2 * N if w == 1 && r == 2
#include "team.h"

enum { N = 200 };
static volatile int words[2][N];

static inline __attribute__((always_inline)) void callee(int which) {
    for (int i = 0; i < N; i++)
        USE(words[which][i]);
}

template <int Which> struct Reader {
    void operator()() const { callee(Which); }
};

static void *fill(void *unused) {
    for (int i = 0; i < N; i++)
        {
        words[0][i] = i;
        words[1][i] = i;
    }
    return unused;
}

NOINLINE void caller() {
    Reader<0>()();
    Reader<1>()();
}

static void *look(void *unused) {
    caller();
    return unused;
}

int main() {
    one(fill, nullptr);
    one(look, nullptr);
}
