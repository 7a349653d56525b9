// An allocator that does not tell sizes: nothing dies, nothing breaks (asking the C library about a foreign block would crash).
// library: allocator.library.c -DSILENT
// linkage: archive lld preload
// count: 0 clear_range 352
// stdout: done
#include <cstdio>
#include <cstdlib>
#include <thread>

int main() {
    std::setvbuf(stdout, nullptr, _IONBF, 0);
    std::free(std::malloc(350));
    void *block = std::realloc(std::malloc(100), 700);
    std::thread([=] { std::free(block); }).join();
    std::puts("done");
}
