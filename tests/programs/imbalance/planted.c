// Threads that should do the same between two barriers, and one or two reasons why they do not.
//
// program PLANT THREADS SEED. The lines of a plant carry its name in a comment `planted: NAME`; both of `two` are causes.
// Each thread also runs branches that fall by chance, alike in all: what they differ by is no cause.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 64, BACKGROUND = 2000, BLOCKS = 15, FAR = 1 << 20 };

enum plant { NOTHING, IF, LOOP, OWNER, WALK, MISSES, TWO };
static const char *const names[] = { "nothing", "if", "loop", "owner", "walk", "misses", "two" };

struct node {
    struct node *left, *right;
    double value;
};

static pthread_barrier_t barrier;
static enum plant plant;
static int threads, slow;
static unsigned seed;
static long bounds[MOST], strides[MOST];
static struct node *trees[MOST];
static double *data;
static double sinks[MOST][16];

static unsigned next(unsigned *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 16;
}

static __attribute__((noinline)) double spin(long rounds)
{
    double x = 1;
    for (long i = 0; i < rounds; i++) {
        x = x * 0.5 + (double)i;
        __asm__ volatile("");
    }
    return x;
}

static double background(int t)
{
    unsigned state = seed * 2654435761u + (unsigned)t * 40503u + 1;
    double x = 0;
    for (int i = 0; i < BACKGROUND; i++) {
        unsigned r = next(&state);
        if (r & 1) {
            x += 1;
            __asm__ volatile("");
        }
        if (r & 2) {
            x *= 0.5;
            __asm__ volatile("");
        } else {
            x -= 1;
            __asm__ volatile("");
        }
        if ((r & 12) == 12) {
            x += (double)r;
            __asm__ volatile("");
        }
    }
    return x + spin(20000);
}

static double owned(int t)
{
    double x = 0;
    for (int i = 1; i <= BLOCKS; i++)
        for (int j = 1; j <= BLOCKS; j++)
            if ((i + j) % threads == t) // planted: owner
                x += spin(2000);
    return x;
}

static __attribute__((noinline)) double walk(const struct node *n) // planted: walk
{
    if (!n) // planted: walk
        return 1;
    double left = walk(n->left);
    double right = walk(n->right);
    return n->value + left * 0.5 + right * 0.25;
}

static double missing(int t)
{
    double x = 0;
    long stride = strides[t];
    for (long i = 0, at = 0; i < 30000; i++) {
        x += data[at]; // planted: misses
        at = (at + stride) & (FAR - 1);
    }
    return x;
}

static double unequal(int t)
{
    double x = 1;
    for (long i = 0; i < bounds[t]; i++) { // planted: loop, two
        x = x * 0.25 + (double)i;
        __asm__ volatile("");
    }
    return x;
}

static void *work(void *argument)
{
    int t = (int)(long)argument;
    pthread_barrier_wait(&barrier);
    double x = background(t);
    switch (plant) {
    case IF:
        if (t == slow) // planted: if
            x += spin(60000);
        break;
    case LOOP:
        x += unequal(t);
        break;
    case OWNER:
        x += owned(t);
        break;
    case WALK:
        x += walk(trees[t]);
        break;
    case MISSES:
        x += missing(t);
        break;
    case TWO:
        if (t == slow) // planted: two
            x += spin(60000);
        x += unequal(t);
        break;
    case NOTHING:
        break;
    }
    sinks[t][0] = x;
    pthread_barrier_wait(&barrier);
    return NULL;
}

static struct node *tree(unsigned *state, long nodes)
{
    if (nodes == 0)
        return NULL;
    struct node *n = malloc(sizeof *n);
    long left = (nodes - 1) * (long)(next(state) % 100) / 100;
    n->value = 1;
    n->left = tree(state, left);
    n->right = tree(state, nodes - 1 - left);
    return n;
}

int main(int argc, char **argv)
{
    if (argc != 4)
        return 2;
    while (strcmp(names[plant], argv[1]) != 0)
        plant++;
    threads = atoi(argv[2]);
    seed = (unsigned)atoi(argv[3]);
    unsigned state = seed * 747796405u + 99;
    slow = (int)(next(&state) % (unsigned)threads);
    data = calloc(FAR, sizeof *data);
    for (int t = 0; t < threads; t++) {
        bounds[t] = 1000 + (long)(next(&state) % 50) * 1000;
        strides[t] = t == slow ? 4099 : 1;
        trees[t] = tree(&state, 50 + (long)(next(&state) % 60) * 100);
    }
    pthread_barrier_init(&barrier, NULL, (unsigned)threads);
    pthread_t ids[MOST];
    for (int t = 0; t < threads; t++)
        pthread_create(&ids[t], NULL, work, (void *)(long)t);
    for (int t = 0; t < threads; t++)
        pthread_join(ids[t], NULL);
    double sum = 0;
    for (int t = 0; t < threads; t++)
        sum += sinks[t][0];
    return sum == 0.12345;
}
