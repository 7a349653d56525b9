// What the C++ library's headers read for the program belongs to the program's line and loop.
// THREADS: 2
// LEVELS: O1, O2, O3
// LET: N = 3000
// EXPECT: raw lines written -> read = 2 * N
// EXPECT: sync_raw in own loop total@loop = 2 * N if w == 0 && r == 1
// EXPECT: sync_raw sum = 2 * N
#include "team.h"
#include <atomic>
#include <vector>

enum { N = 3000 };
static std::atomic<long> table[N];

static NOINLINE long total(const std::atomic<long> *row) {
    long sum = 0;
    for (int i = 0; i < N; i++)                           /*@loop*/
        sum += row[i].load(std::memory_order_relaxed);    /*@read*/
    return sum;
}

static void *work(void *unused) {
    USE(total(table));
    return unused;
}

int main() {
    for (int i = 0; i < N; i++)
        table[i].store(i); /*@written*/
    one(work, nullptr);
    return 0;
}
