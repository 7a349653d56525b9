// REFUSE: false-sharing
// THREADTALK: memory,control
// One thread loads names and ends; then another one counts hits beside them. A cache line moves once, as nobody is left to
// take it back.
#include <pthread.h>

#define N 4096
#define HITS 200000

static struct entry {
    int name, hits;
} entries[N];

static void *load(void *unused) {
    for (int i = 0; i < N; i++)
        entries[i].name = i * 3;
    return unused;
}

static void *count(void *unused) {
    unsigned random = 1;
    for (int k = 0; k < HITS; k++) {
        random = random * 1664525u + 1013904223u;
        entries[random % N].hits++;
    }
    return unused;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, load, 0);
    pthread_join(thread, 0);
    pthread_create(&thread, 0, count, 0);
    pthread_join(thread, 0);
    return entries[1].hits == 1;
}
