// What a function is handed that was inlined has the name that its caller has for it, not that of the parameter; what the C++
// library's containers keep in members of their own is the container's.
// THREADS: 2
// LEVELS: O1, O2, O3
// LET: N = 3000
// EXPECT: raw object pointer grid.rows = N
// EXPECT: raw object pointer grid.columns = N
// EXPECT: raw object global table = 2
// OPTIONS: objects=0
#include "team.h"
#include <unordered_map>

enum { N = 3000 };

static inline __attribute__((always_inline)) int at(const volatile int *p, int i) { return p[i]; }

struct Grid {
    int *rows, *columns;
};
static std::unordered_map<int, int> table(8 * N);

static NOINLINE long total(const Grid *grid) {
    long sum = 0;
    for (int i = 0; i < N; i++)
        sum += at(grid->rows, i) + at(grid->columns, i);
    return sum + (long)table.bucket_count();
}

static void *work(void *argument) {
    USE(total(static_cast<const Grid *>(argument)));
    return nullptr;
}

int main() {
    Grid grid{new int[N], new int[N]};
    for (int i = 0; i < N; i++)
        grid.rows[i] = grid.columns[i] = i;
    one(work, &grid);
    return 0;
}
