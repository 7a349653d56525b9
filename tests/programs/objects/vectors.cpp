// Containers of the C++ library: each is called as the program calls it, wherever the library allocates for it.
// THREADS: 2
// LEVELS: O1, O2, O3
// LET: N = 3000
// EXPECT: raw object heap weights = N
// EXPECT: raw object heap columns = 2 * N
// EXPECT: raw object pointer = 0
// OPTIONS: objects=1
#include "team.h"
#include <vector>

enum { N = 3000 };

static NOINLINE int total(const int *row, int n) {
    int sum = 0;
    for (int i = 0; i < n; i++)
        sum += static_cast<const volatile int *>(row)[i];
    return sum;
}

static void *work(void *argument) {
    auto *rows = static_cast<const int *const *>(argument);
    USE(total(rows[0], N));
    USE(total(rows[1], 2 * N));
    return nullptr;
}

static NOINLINE void fill(int *row, int n) {
    for (int i = 0; i < n; i++)
        static_cast<volatile int *>(row)[i] = i;
}

int main() {
    std::vector<int> weights(N);
    std::vector<int> columns(2 * N);
    fill(weights.data(), N);
    fill(columns.data(), 2 * N);
    const int *rows[] = {weights.data(), columns.data()};
    one(work, rows);
    return 0;
}
