// What the program does in handlers and destructors still belongs to the run.
// stdout: main
// stdout: handler
// stdout: static object
// stdout: destructor
// trace: clear_range 2008
// trace: clear_range 3000
// trace: clear_range 4008
// trace: process_exit 1 0
// count: 1 process_exit
// linkage: archive lld preload static static-pie
#include <cstdio>
#include <cstdlib>

static void say(const char *what, size_t bytes) {
    std::puts(what);
    std::fflush(stdout);
    std::free(std::malloc(bytes));
}

struct Static {
    ~Static() { say("static object", 3000); }
};
static Static object;

__attribute__((destructor)) static void destructor() { say("destructor", 4000); }

int main() {
    std::atexit([] { say("handler", 2000); });
    std::puts("main");
}
