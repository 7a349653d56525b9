// With an allocator of its own that tells the size of blocks; its operator delete does not pass through our free.
// library: allocator.library.c
// linkage: archive lld preload
// trace: clear_range 352
// trace: clear_range 416
// trace: copy_range 480
// trace: clear_range 480
// count: 1 clear_range 416
// stdout: done
#include <cstdio>
#include <cstdlib>
#include <new>
#include <thread>

int main() {
    std::setvbuf(stdout, nullptr, _IONBF, 0);
    std::free(std::malloc(350));
    ::operator delete(::operator new(400));
    void *block = std::malloc(480);
    block = std::realloc(block, 500);
    std::thread([=] { std::free(block); }).join();
    std::puts("done");
}
