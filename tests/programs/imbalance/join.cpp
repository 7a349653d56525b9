// Threads of std::thread (8, or as many as the argument says) of which one has more to do, from creation to join; `main`
// only waits. A second argument: none has more to do.
#include <cstdlib>
#include <thread>
#include <vector>

static double sinks[64][16];

static __attribute__((noinline)) double spin(long rounds)
{
    double x = 1;
    for (long i = 0; i < rounds; i++) {
        x = x * 0.5 + static_cast<double>(i);
        __asm__ volatile("");
    }
    return x;
}

int main(int argc, char **argv)
{
    int count = argc > 1 ? std::atoi(argv[1]) : 8, slow = argc > 2 ? -1 : 5;
    std::vector<std::thread> threads;
    for (int t = 0; t < count; t++)
        threads.emplace_back([t, slow] {
            double x = spin(20000);
            if (t == slow) // planted: join
                x += spin(60000);
            sinks[t][0] = x;
        });
    for (auto &thread : threads)
        thread.join();
    return sinks[5][0] == 0.12345;
}
