// Threads named in three ways, created at three lines by two interfaces, the third one in a function of the C++ library
// that is not inlined, and a team of the OpenMP runtime.
#include "team.h"
#include "threadtalk.h"
#include <sys/prctl.h>
#include <thread>
#include <vector>

static pthread_barrier_t met;

static void *by_header(void *unused) {
    threadtalk_thread_name("by header");
    pthread_barrier_wait(&met);
    return unused;
}

static void *by_posix(void *unused) {
    pthread_setname_np(pthread_self(), "by posix");
    pthread_barrier_wait(&met);
    return unused;
}

int main() {
    pthread_t first, second;
    pthread_barrier_init(&met, nullptr, 3);
    pthread_create(&first, nullptr, by_header, nullptr);  /*@first*/
    pthread_create(&second, nullptr, by_posix, nullptr);  /*@second*/
    std::vector<std::thread> third;
    third.emplace_back([] {                               /*@third*/
        prctl(PR_SET_NAME, "by prctl");
        pthread_barrier_wait(&met);
    });
    pthread_join(first, nullptr);
    pthread_join(second, nullptr);
    third[0].join();
    volatile int sum[2] = {0, 0};
#pragma omp parallel for num_threads(2) schedule(static) /*@team*/
    for (int i = 0; i < 2; i++)
        sum[i] = i;
    return sum[0];
}
