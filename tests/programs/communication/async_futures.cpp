// std::async hands a promise's value on: task 1 fills a vector, main passes it to task 2, which adds it up.
// FLAGS: -std=c++17
// THREADS: 3
// STDOUT: 124750
// LET: N = 500
// EXPECT: raw in add = N if w == 1 && r == 2
// EXPECT: rar in add = 0
#include "team.h"
#include <future>
#include <memory>

enum { N = 500 };

NOINLINE void fill(volatile int *words) {
    for (int i = 0; i < N; i++)
        words[i] = i;
}

NOINLINE long add(volatile int *words) {
    long sum = 0;
    for (int i = 0; i < N; i++)
        sum += words[i];
    return sum;
}

int main() {
    auto made = std::async(std::launch::async, [] {
        auto block = std::make_unique<int[]>(N);
        fill(block.get());
        return block;
    });
    auto block = made.get();
    auto sum = std::async(std::launch::async, [&block] { return add(block.get()); });
    printf("%ld\n", sum.get());
}
