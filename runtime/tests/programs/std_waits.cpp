// Waits inside libstdc++'s library and its headers come by as any others.
// flags: -std=c++20
// profile: waited condition by 1: 1
// profile: waited futex by 1: 1
// profile: waited join by 0: 1
// profile: instance join of 0 number 0 thread 1
// stdout: 2
#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <mutex>
#include <thread>
#include <unistd.h>

static std::mutex mutex;
static std::condition_variable condition;
static std::atomic<int> word{0};
static volatile int step, tid, is_set;

static bool is_asleep() {
    char path[64], text[256] = "";
    snprintf(path, sizeof path, "/proc/self/task/%d/stat", tid);
    int file = open(path, O_RDONLY);
    read(file, text, sizeof text - 1);
    close(file);
    const char *after = strrchr(text, ')');
    return after && after[2] == 'S';
}

int main() {
    std::thread thread([] {
        tid = gettid();
        {
            std::unique_lock lock(mutex);
            step = 1;
            while (!is_set)
                condition.wait(lock);
        }
        step = 2;
        word.wait(0);
    });
    for (int now = 1; now <= 2; now++) {
        while (step != now || !is_asleep())
            ;
        if (now == 1) {
            std::lock_guard lock(mutex);
            is_set = 1;
            condition.notify_one();
        } else {
            word = 1;
            word.notify_one();
        }
    }
    thread.join();
    std::printf("%d\n", step);
}
