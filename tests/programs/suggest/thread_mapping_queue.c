// REFUSE: thread-mapping
// Threads take jobs of some hundred microseconds from a queue. Some thousand values pass, from the thread that has made
// the jobs, or from who has taken the last one, which is chance: wherever the threads ran, nobody would notice.
#include "team.h"

#define T 8
#define JOBS 600

static struct job {
    struct job *next;
    unsigned seed;
} jobs[JOBS], *head, **tail = &head;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned long sum;
static int left = JOBS, begun;

static void *work(void *argument) {
    if ((intptr_t)argument == 1)
        for (int j = 0; j < JOBS; j++) {
            pthread_mutex_lock(&lock);
            jobs[j].seed = j, *tail = &jobs[j], tail = &jobs[j].next, begun++;
            pthread_mutex_unlock(&lock);
        }
    for (int done = 0; !done;) {
        pthread_mutex_lock(&lock);
        struct job *job = head;
        if (job && !(head = job->next))
            tail = &head;
        done = left == 0;
        left -= job != NULL;
        pthread_mutex_unlock(&lock);
        unsigned long x = job ? job->seed : 0;
        for (int i = 0; job && i < 300000; i++)
            x = x * 6364136223846793005ul + 1442695040888963407ul + (x >> 33);
        pthread_mutex_lock(&lock);
        sum += x;
        pthread_mutex_unlock(&lock);
    }
    return NULL;
}

int main(void) {
    team(T, work);
    return sum == 1;
}
