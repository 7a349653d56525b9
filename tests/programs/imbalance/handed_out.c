// OpenMP's ways to hand out work, each with a cause of imbalance, or with none where asking for more work hides it.
//
// program MODE SIZE. The lines of a cause carry its mode in a comment. Threads: OMP_NUM_THREADS; SIZE: how many times
// the work of one thread is as much as the longest piece of a mode that has no cause.
#include <omp.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 64 * 1024, HEAVY = 40000 };

static double sinks[MOST];
static long rounds[MOST];

static __attribute__((noinline)) double spin(long n)
{
    double x = 1;
    for (long i = 0; i < n; i++) {
        x = x * 0.5 + (double)i;
        __asm__ volatile("");
    }
    return x;
}

static double once(int i, int slow)
{
    double x = spin(rounds[i]);
    if (i == slow) // dynamic_if, guided_if, static_if
        x += spin(HEAVY * 4);
    return x;
}

static double part(int i, int slow)
{
    double x = spin(rounds[i]);
    if (i == slow) // tasks_if, taskloop_if
        x += spin(HEAVY * 4);
    return x;
}

int main(int argc, char **argv)
{
    if (argc != 3)
        return 2;
    const char *mode = argv[1];
    int size = atoi(argv[2]), threads = omp_get_max_threads(), slow = -1;
    int all = threads * size;
    unsigned state = 12345;
    // Pieces of unequal length, at most twice the mean.
    for (int i = 0; i < all; i++) {
        state = state * 1664525u + 1013904223u;
        rounds[i] = 100 + (long)(state >> 16) % 200;
    }
    if (strstr(mode, "_if"))
        slow = all / 3;
    if (!strncmp(mode, "static", 6)) {
#pragma omp parallel for schedule(static)
        for (int i = 0; i < all; i++)
            sinks[i] = once(i, slow);
    } else if (!strncmp(mode, "dynamic", 7)) {
#pragma omp parallel for schedule(dynamic)
        for (int i = 0; i < all; i++)
            sinks[i] = once(i, slow);
    } else if (!strncmp(mode, "guided", 6)) {
#pragma omp parallel for schedule(guided)
        for (int i = 0; i < all; i++)
            sinks[i] = once(i, slow);
    } else if (!strncmp(mode, "tasks", 5)) {
#pragma omp parallel
#pragma omp single
        for (int i = 0; i < all; i++) {
#pragma omp task firstprivate(i)
            sinks[i] = part(i, slow);
        }
    } else if (!strncmp(mode, "taskloop", 8)) {
#pragma omp parallel
#pragma omp single
#pragma omp taskloop grainsize(1)
        for (int i = 0; i < all; i++)
            sinks[i] = part(i, slow);
    } else if (!strcmp(mode, "sections")) {
        // Four sections for more threads, of which one is long.
#pragma omp parallel
        {
            sinks[omp_get_thread_num()] = spin(HEAVY);
#pragma omp sections // sections
            {
#pragma omp section
                sinks[0] += spin(HEAVY * 4);
#pragma omp section
                sinks[1] += spin(HEAVY / 20);
#pragma omp section
                sinks[2] += spin(HEAVY / 20);
#pragma omp section
                sinks[3] += spin(HEAVY / 20);
            }
        }
    } else if (!strcmp(mode, "single")) {
#pragma omp parallel
        {
            sinks[omp_get_thread_num()] = spin(HEAVY);
#pragma omp single // single
            sinks[0] += spin(HEAVY * 4);
        }
    } else if (!strcmp(mode, "nested")) {
        // The inner teams are unequal inside.
#pragma omp parallel for num_threads(2)
        for (int i = 0; i < 2; i++) {
#pragma omp parallel for num_threads(threads / 2) schedule(static)
            for (int j = 0; j < threads / 2; j++) {
                sinks[i * 64 + j] = spin(HEAVY);
                if (j == 3) // nested
                    sinks[i * 64 + j] += spin(HEAVY * 4);
            }
        }
    }
    return sinks[0] == 0.12345;
}
