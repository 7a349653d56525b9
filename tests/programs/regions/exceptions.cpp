// An exception passes through instrumented frames with destructors that read; each event belongs to the function that reads.
// THREADS: 3
// STDOUT: caught 7
// LET: N = 100
// EXPECT: raw in thrower = N if w == 1 && r == 2
// EXPECT: raw in Guard::~Guard = 1 if w == 1 && r == 2
// EXPECT: raw in catcher = N if w == 1 && r == 2
// EXPECT: raw = 2 * N + 1 if w == 1 && r == 2
// EXPECT: rar = 0
#include "team.h"
#include <stdexcept>

enum { N = 100 };
static volatile int first[N], second[N], guarded;

struct Guard {
    NOINLINE ~Guard() { USE(guarded); }
};

static void *write(void *unused) {
    for (int i = 0; i < N; i++) {
        first[i] = i;
        second[i] = i;
    }
    guarded = 1;
    return unused;
}

NOINLINE void thrower(int value) {
    for (int i = 0; i < N; i++)
        USE(first[i]);
    if (value > 0)
        throw std::runtime_error("on purpose");
}

NOINLINE void between(int value) {
    Guard guard;
    thrower(value);
    FENCE();
}

static void *catcher(void *) {
    try {
        between(7);
    } catch (const std::runtime_error &) {
        for (int i = 0; i < N; i++)
            USE(second[i]);
        puts("caught 7");
    }
    return nullptr;
}

int main() {
    one(write, nullptr);
    one(catcher, nullptr);
}
