// std::thread, thread_local destructors, an exception caught in a thread, new and delete.
// flags: -std=c++17
// stdout: caught 41
// stdout: destroyed
// stdout: 3
// trace: thread_created 1
// trace: clear_range 5000
// trace: thread_ended 1
// trace: thread_gone 1 1
// count: 4 thread_gone
// linkage: archive lld preload static
#include <atomic>
#include <cstdio>
#include <stdexcept>
#include <thread>
#include <vector>

struct Noisy {
    char *block = new char[4994];
    ~Noisy() {
        delete[] block;
        std::puts("destroyed");
        std::fflush(stdout);
    }
};

int main() {
    std::thread([] {
        static thread_local Noisy noisy;
        try {
            if (noisy.block) throw std::runtime_error("41");
        } catch (const std::exception &e) {
            std::printf("caught %s\n", e.what());
        }
    }).join();
    std::atomic<int> sum{0};
    std::vector<std::thread> threads;
    for (int i = 0; i < 3; i++) threads.emplace_back([&sum, i] { sum += i; });
    for (auto &thread : threads) thread.join();
    std::printf("%d\n", sum.load());
}
