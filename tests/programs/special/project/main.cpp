#include "numbers.h"
#include <cstdio>
#include <thread>

static volatile int words[N];

int main() {
    long sum = 0;
    std::thread([] { fill_static(words); }).join();
    std::thread([&sum] { sum = add_shared(words); }).join();
    std::printf("%ld\n", sum);
}
