// Each kind of waiting, once: the waker acts when it sees in /proc that the waiter sleeps. What is free is no waiting.
// flags: -DCOUNTERS=1 -D_GNU_SOURCE
// environment: THREADTALK_OPTIONS=quiet=1:parallelism=effective
// linkage: archive static
// profile: waited mutex by 1: 2
// profile: waited rwlock by 1: 2
// profile: waited condition by 1: 1
// profile: waited barrier by 1: 1
// profile: waited semaphore by 1: 1
// profile: waited sleep by 1: 3
// profile: waited poll by 1: 2
// profile: waited read by 1: 1
// profile: waited wait by 1: 1
// profile: waited futex by 1: 1
// profile: waited join by 0: 1
// profile: counted 0 level 1 id 0: 1400
// profile: counted 0 level 2 id 0: 1
// profile-count: 2 counted
// profile-count: 0 waited semaphore by 0
// stdout: 14
#include "counters.h"
#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/select.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t mutex[2] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER}, for_condition = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rwlock[2] = {PTHREAD_RWLOCK_INITIALIZER, PTHREAD_RWLOCK_INITIALIZER};
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t barrier;
static sem_t semaphore;
static int pipes[4][2];
static int word, is_set;
static volatile int go, step, tid;

// The waker spins, so that it never sleeps itself.
static void *wait_for_each(void *unused) {
    char byte;
    struct timespec long_ago = {0, 1}, limit;
    while (!go)
        ;
    tid = syscall(SYS_gettid);
    for (int i = 0; i < 3; i++) { // free: no waiting
        pthread_mutex_lock(&for_condition);
        pthread_mutex_unlock(&for_condition);
    }
    step = 1, pthread_mutex_lock(&mutex[0]);
    clock_gettime(CLOCK_REALTIME, &limit);
    limit.tv_sec += 100;
    step = 2, pthread_mutex_timedlock(&mutex[1], &limit);
    step = 3, pthread_rwlock_rdlock(&rwlock[0]);
    step = 4, pthread_rwlock_wrlock(&rwlock[1]);
    pthread_mutex_lock(&for_condition);
    step = 5;
    while (!is_set)
        pthread_cond_wait(&condition, &for_condition);
    pthread_mutex_unlock(&for_condition);
    step = 6, pthread_barrier_wait(&barrier);
    step = 7, sem_wait(&semaphore);
    struct pollfd file = {pipes[0][0], POLLIN, 0};
    poll(&file, 1, 0); // only asks
    step = 8, poll(&file, 1, -1);
    fd_set files;
    FD_ZERO(&files);
    FD_SET(pipes[1][0], &files);
    step = 9, select(pipes[1][0] + 1, &files, NULL, NULL, NULL);
    read(pipes[1][0], &byte, 1); // there already
    step = 10, read(pipes[2][0], &byte, 1);
    step = 11, syscall(SYS_futex, &word, FUTEX_WAIT, 0, NULL, NULL, 0);
    pid_t child = fork();
    if (child == 0) {
        read(pipes[3][0], &byte, 1);
        _exit(0);
    }
    step = 12, waitpid(child, NULL, 0);
    limit = (struct timespec){100, 0};
    step = 13, nanosleep(&limit, NULL);
    step = 14, sleep(100);
    nanosleep(&long_ago, NULL);
    return NULL;
}

static void nothing(int signal) {}

static int is_asleep(void) {
    char path[64], text[256] = "";
    snprintf(path, sizeof path, "/proc/self/task/%d/stat", tid);
    int file = open(path, O_RDONLY);
    syscall(SYS_read, file, text, sizeof text - 1);
    close(file);
    char *after = strrchr(text, ')');
    return after && after[2] == 'S';
}

static void wake(int now, pthread_t thread) {
    switch (now) {
    case 1: case 2: pthread_mutex_unlock(&mutex[now - 1]); break;
    case 3: case 4: pthread_rwlock_unlock(&rwlock[now - 3]); break;
    case 5: pthread_mutex_lock(&for_condition), is_set = 1, pthread_cond_signal(&condition), pthread_mutex_unlock(&for_condition); break;
    case 6: pthread_barrier_wait(&barrier); break;
    case 7: sem_post(&semaphore); break;
    case 8: case 9: case 10: write(pipes[now - 8][1], "", 1); break;
    case 11: word = 1, syscall(SYS_futex, &word, FUTEX_WAKE, 1, NULL, NULL, 0); break;
    case 12: write(pipes[3][1], "", 1); break;
    default: pthread_kill(thread, SIGUSR1);
    }
}

int main(void) {
    pthread_t thread;
    struct sigaction action = {.sa_handler = nothing};
    sigaction(SIGUSR1, &action, NULL);
    for (int i = 0; i < 4; i++)
        pipe(pipes[i]);
    pthread_barrier_init(&barrier, NULL, 2);
    sem_init(&semaphore, 0, 1);
    sem_wait(&semaphore); // free
    for (int i = 0; i < 2; i++) {
        pthread_mutex_lock(&mutex[i]);
        pthread_rwlock_wrlock(&rwlock[i]);
    }
    pthread_create(&thread, NULL, wait_for_each, NULL);
    COUNT(0);
    go = 1;
    for (int now = 1; now <= 14; now++) {
        while (step != now || !is_asleep())
            ;
        if (now == 5) { // asleep in the wait, not on its mutex
            pthread_mutex_lock(&for_condition);
            pthread_mutex_unlock(&for_condition);
        }
        for (int i = 0; i < 100; i++)
            COUNT(0);
        wake(now, thread);
    }
    pthread_join(thread, NULL);
    printf("%d\n", step);
    return 0;
}
