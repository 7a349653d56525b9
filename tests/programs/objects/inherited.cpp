// Blocks that members of a base class receive have these members' names; those of the library's containers, which are
// derived from classes of its own, have the containers'.
// THREADS: 2
// LEVELS: O1, O2, O3
// LET: N = 3000
// EXPECT: raw object heap this = 3 * N
// EXPECT: raw object heap weights = 3 * N
// EXPECT: raw object pointer = 0
// OPTIONS: objects=1
#include "team.h"
#include <vector>

enum { N = 3000 };

struct Named {
    int number = 0;
};

struct Field : Named {
    volatile int *charges = nullptr, *masses = nullptr;
    virtual ~Field() = default;
};

struct Grid : Field {
    explicit Grid(int n);
};

NOINLINE Grid::Grid(int n) {
    number = n;
    charges = new int[n];
    masses = new int[2 * n];
    for (int i = 0; i < n; i++)
        charges[i] = i;
    for (int i = 0; i < 2 * n; i++)
        masses[i] = i;
}

static Grid *grid;
static std::vector<int> *all;

static NOINLINE int total(const volatile int *row, int n) {
    int sum = 0;
    for (int i = 0; i < n; i++)
        sum += row[i];
    return sum;
}

static void *work(void *unused) {
    USE(total(grid->charges, N));
    USE(total(grid->masses, 2 * N));
    USE(total(all->data(), 3 * N));
    return unused;
}

int main() {
    std::vector<int> weights(3 * N);
    for (int i = 0; i < 3 * N; i++)
        static_cast<volatile int *>(weights.data())[i] = i;
    all = &weights;
    grid = new Grid(N);
    one(work, nullptr);
    return 0;
}
