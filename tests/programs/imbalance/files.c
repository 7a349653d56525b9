// Threads wait for files, signals and messages, each right behind a lock that it leaves: what is waited for is at its own
// line, not at that of the lock.
#define _GNU_SOURCE
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static long turns;
static int ready[5], pair[2], queue;
static struct {
    long kind;
    char text[1];
} message = {1, "x"};

static __attribute__((noinline)) void leave(void)
{
    pthread_mutex_lock(&mutex);
    turns++;
    pthread_mutex_unlock(&mutex);
}

static void *wake(void *main_thread)
{
    const uint64_t one = 1;
    for (int i = 0; i < 5; i++) {
        usleep(20000); // sleep
        if (write(ready[i], &one, sizeof one) != sizeof one)
            abort();
    }
    usleep(20000); // sleep
    if (write(pair[0], "x", 1) != 1)
        abort();
    usleep(20000); // sleep
    msgsnd(queue, &message, 1, 0);
    usleep(20000); // sleep
    pthread_kill(*(pthread_t *)main_thread, SIGUSR1);
    return NULL;
}

int main(void)
{
    for (int i = 0; i < 5; i++)
        ready[i] = eventfd(0, 0);
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0)
        abort();
    queue = msgget(IPC_PRIVATE, 0600);
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &signals, NULL);
    struct epoll_event event = {.events = EPOLLIN}, got;
    int epoll = epoll_create1(0), number;
    epoll_ctl(epoll, EPOLL_CTL_ADD, ready[0], &event);
    struct pollfd file = {ready[1], POLLIN, 0};
    fd_set files;
    FD_ZERO(&files);
    FD_SET(ready[2], &files);
    fd_set again = files;
    FD_CLR(ready[2], &again);
    FD_SET(ready[3], &again);
    uint64_t count;
    char byte;
    pthread_t self = pthread_self(), thread;
    pthread_create(&thread, NULL, wake, &self);
    leave();
    epoll_pwait(epoll, &got, 1, -1, NULL); // poll
    leave();
    ppoll(&file, 1, NULL, NULL); // poll
    leave();
    pselect(ready[2] + 1, &files, NULL, NULL, NULL, NULL); // poll
    leave();
    select(ready[3] + 1, &again, NULL, NULL, NULL); // poll
    leave();
    if (read(ready[4], &count, sizeof count) != sizeof count) // read
        abort();
    leave();
    recv(pair[1], &byte, 1, 0); // read
    leave();
    msgrcv(queue, &message, 1, 0, 0); // wait
    leave();
    sigwait(&signals, &number); // wait
    pthread_join(thread, NULL);
    msgctl(queue, IPC_RMID, NULL);
    return number != SIGUSR1;
}
