// Containers that grow in functions of the C++ library which are not inlined: their blocks are those of the variables
// that the program makes grow.
// THREADS: 2
// LEVELS: O1, O2, O3
// LET: N = 3000
// EXPECT: raw object heap sized = N
// EXPECT: raw object heap pushed = N
// EXPECT: raw object heap this->nodes = N
// EXPECT: raw object pointer = 0
// OPTIONS: objects=1
#include "team.h"
#include <vector>

enum { N = 3000, ALL = 3 };

struct Mesh {
    std::vector<int> nodes;
    NOINLINE void grow(int n) { nodes.resize(n); }
};
static Mesh mesh;

static NOINLINE int total(const int *row, int n) {
    int sum = 0;
    for (int i = 0; i < n; i++)
        sum += static_cast<const volatile int *>(row)[i];
    return sum;
}

static void *work(void *argument) {
    auto *all = static_cast<const int *const *>(argument);
    for (int i = 0; i < ALL; i++)
        USE(total(all[i], N));
    return nullptr;
}

static NOINLINE void fill(int *row, int n) {
    for (int i = 0; i < n; i++)
        static_cast<volatile int *>(row)[i] = i;
}

int main() {
    std::vector<int> sized, pushed;
    sized.resize(N);
    for (int i = 0; i < N; i++)
        pushed.push_back(i);
    mesh.grow(N);
    int *all[ALL] = {sized.data(), pushed.data(), mesh.nodes.data()};
    for (int *row : all)
        fill(row, N);
    one(work, all);
    return 0;
}
