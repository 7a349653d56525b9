// operator delete ends elements as free does; a vector that grows copies its elements in the growing thread's name.
// THREADS: 5
// STDOUT: same
// LET: N = 64
// EXPECT: raw in look = N if w == 0 && r == 4
#include "team.h"
#include <vector>

enum { N = 64 };

NOINLINE void look(volatile int *words, int n) {
    for (int i = 0; i < n; i++)
        USE(words[i]);
}

static void *fill(void *block) {
    for (int i = 0; i < N; i++)
        static_cast<volatile int *>(block)[i] = i;
    return nullptr;
}

NOINLINE void *refill(void *block) {
    look(static_cast<volatile int *>(block), N);
    return nullptr;
}

static void *look_vector(void *vector) {
    look(static_cast<std::vector<int> *>(vector)->data(), N);
    return nullptr;
}

int main() {
    int *block = new int[N];
    auto before = reinterpret_cast<uintptr_t>(block);
    one(fill, block);
    delete[] block;
    block = new int[N];
    one(refill, block);
    bool same = reinterpret_cast<uintptr_t>(block) == before;
    std::vector<int> vector;
    vector.reserve(N);
    for (int i = 0; i < N; i++)
        vector.push_back(i);
    one(fill, vector.data());
    vector.reserve(2 * N);
    one(look_vector, &vector);
    puts(same ? "same" : "other");
    delete[] block;
}
