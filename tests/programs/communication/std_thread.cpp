// std::thread with lambdas, a mutex and a condition variable: a producer hands batches to a consumer, a third thread reads
// what the consumer made of them.
// Who waits how often for the mutex changes from run to run, so the runs are not compared with each other.
// THREADS: 4
// RUNS: 1
// STDOUT: 4950
// LET: BATCHES = 10
// LET: N = 64
// EXPECT: raw in consume = BATCHES * N if w == 1 && r == 2
// EXPECT: rar in consume = 0
// EXPECT: raw in judge = BATCHES if w == 2 && r == 3
#include "team.h"
#include <condition_variable>
#include <mutex>
#include <thread>

enum { BATCHES = 10, N = 64 };
static volatile int batch[N], verdict[BATCHES];
static std::mutex lock;
static std::condition_variable changed;
static bool full = false;

NOINLINE void produce(int number) {
    for (int i = 0; i < N; i++)
        batch[i] = number * 110;
}

NOINLINE void consume(int number) {
    int last = 0;
    for (int i = 0; i < N; i++)
        last = batch[i];
    verdict[number] = last;
}

NOINLINE int judge() {
    int sum = 0;
    for (int i = 0; i < BATCHES; i++)
        sum += verdict[i];
    return sum;
}

template <class Work> static void in_turn(bool wanted, Work work) {
    for (int number = 0; number < BATCHES; number++) {
        std::unique_lock<std::mutex> held(lock);
        changed.wait(held, [=] { return full == wanted; });
        work(number);
        full = !wanted;
        changed.notify_all();
    }
}

int main() {
    std::thread producer([] { in_turn(false, produce); });
    std::thread consumer([] { in_turn(true, consume); });
    producer.join();
    consumer.join();
    int sum = 0;
    std::thread([&sum] { sum = judge(); }).join();
    printf("%d\n", sum);
}
