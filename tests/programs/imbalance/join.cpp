// Eight std::thread of which one has more to do, from creation to join; `main` only waits.
#include <thread>
#include <vector>

static double sinks[8][16];

static __attribute__((noinline)) double spin(long rounds)
{
    double x = 1;
    for (long i = 0; i < rounds; i++) {
        x = x * 0.5 + static_cast<double>(i);
        __asm__ volatile("");
    }
    return x;
}

int main()
{
    std::vector<std::thread> threads;
    for (int t = 0; t < 8; t++)
        threads.emplace_back([t] {
            double x = spin(20000);
            if (t == 5) // planted: join
                x += spin(60000);
            sinks[t][0] = x;
        });
    for (auto &thread : threads)
        thread.join();
    return sinks[5][0] == 0.12345;
}
