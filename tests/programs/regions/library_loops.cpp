// A loop that was inlined from the C++ library is a loop of the line that calls it, and what it reads is read there: of two
// sums nobody could tell which `stl_numeric.h` was.
// THREADS: 2
// LEVELS: O2, O3
// LET: N = 3000
// EXPECT: raw lines written -> first = N
// EXPECT: raw lines written -> second = N
// EXPECT: raw in own loop total@first = N if w == 0 && r == 1
// EXPECT: raw in own loop total@second = N if w == 0 && r == 1
// EXPECT: raw sum = 2 * N
#include "team.h"
#include <algorithm>
#include <numeric>

enum { N = 3000 };
static int table[2][N];

static NOINLINE long total(const int (*rows)[N]) {
    long sum = std::accumulate(rows[0], rows[0] + N, 0L); /*@first*/
    FENCE();
    return sum + std::count(rows[1], rows[1] + N, 7);     /*@second*/
}

static void *work(void *unused) {
    USE(total(table));
    return unused;
}

int main() {
    for (int i = 0; i < N; i++)
        table[0][i] = table[1][i] = i; /*@written*/
    one(work, nullptr);
    return 0;
}
