// An exec that fails leaves every count where it was: of the caller, and of a thread that goes on meanwhile. A forked child's
// counts are its own.
// flags: -DCOUNTERS=2
// linkage: archive static
// profile: counted 0 level 1 id 0: 1
// profile: counted 0 level 2 id 0: 30
// profile: counted 1 level 2 id 1: 14
// profile-count: 3 counted
// profile: part join thread 1 id 1: 14
// trace: exec_failed
#include "counters.h"
#include <pthread.h>
#include <semaphore.h>
#include <sys/wait.h>
#include <unistd.h>

static sem_t counted, go_on;

static void *work(void *unused) {
    for (int i = 0; i < 7; i++)
        COUNT(1);
    sem_post(&counted);
    sem_wait(&go_on);
    for (int i = 0; i < 7; i++)
        COUNT(1);
    sem_post(&counted);
    sem_wait(&go_on);
    return unused;
}

int main(void) {
    pthread_t thread;
    sem_init(&counted, 0, 0);
    sem_init(&go_on, 0, 0);
    COUNT(0);
    pthread_create(&thread, NULL, work, NULL);
    sem_wait(&counted);
    for (int i = 0; i < 10; i++)
        COUNT(0);
    execl("/nowhere", "nowhere", (char *)NULL);
    for (int i = 0; i < 20; i++)
        COUNT(0);
    pid_t child = fork();
    if (child == 0) {
        for (int i = 0; i < 1000; i++)
            COUNT(0);
        _exit(0);
    }
    waitpid(child, NULL, 0);
    sem_post(&go_on);
    sem_wait(&counted);
    sem_post(&go_on);
    pthread_join(thread, NULL);
    return 0;
}
