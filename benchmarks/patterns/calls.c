/* Functions of a few accesses each. */
#include "rounds.h"

static int *rows[MOST_THREADS];

static void prepare(void) { for (int i = 0; i < threads; i++) rows[i] = zeroed(n * sizeof(int)); }

static void fill(int me, long round) { for (long i = 0; i < n; i++) rows[me][i] = scattered(i + round) >> 8; }

#if defined(ACCESSORS)
__attribute__((noinline)) static int at(const int *row, long i) { return row[i]; }
__attribute__((noinline)) static void put(int *row, long i, int value) { row[i] = value; }
static double use(int me) {
    double sum = 0;
    for (long i = 0; i < n; i++) {
        int value = at(rows[next(me)], i);
        put(rows[next(me)], i, value + 1);
        sum += value;
    }
    return sum;
}
#elif defined(RECURSION)
__attribute__((noinline)) static void sort(int *first, int *last) {
    if (last - first < 2) return;
    int pivot = first[(last - first) / 2], *low = first, *high = last - 1;
    while (low <= high) {
        while (*low < pivot) low++;
        while (*high > pivot) high--;
        if (low <= high) {
            int held = *low;
            *low++ = *high, *high-- = held;
        }
    }
    sort(first, high + 1);
    sort(low, last);
}
static double use(int me) {
    sort(rows[next(me)], rows[next(me)] + n);
    return rows[next(me)][n / 2];
}
#elif defined(CALLBACK)
static int compare(const void *a, const void *b) {
    int x = *(const int *)a, y = *(const int *)b;
    return (x > y) - (x < y);
}
static double use(int me) {
    qsort(rows[next(me)], n, sizeof(int), compare);
    return rows[next(me)][n / 2];
}
#elif defined(INTERPRETER)
/* A machine with a stack in memory. */
typedef struct { long stack[16]; int top; long counter; const uint8_t *code; } Machine;
static const uint8_t program[] = {0, 1, 2, 3, 0, 2, 4, 5};
static void push(Machine *m, long value) { m->stack[m->top++ & 15] = value; }
static long pop(Machine *m) { return m->stack[--m->top & 15]; }
__attribute__((noinline)) static int step(Machine *m, const int *input) {
    switch (*m->code++) {
    case 0: push(m, input[m->counter]); break;
    case 1: push(m, m->counter); break;
    case 2: push(m, pop(m) + pop(m)); break;
    case 3: push(m, pop(m) ^ 5); break;
    case 4: m->counter++; break;
    default: m->code = program; return m->counter < n;
    }
    return 1;
}
static double use(int me) {
    Machine *m = zeroed(sizeof *m);
    m->code = program;
    while (step(m, rows[next(me)])) {
        if (m->code == program) m->stack[0] = pop(m), m->top = 1;
    }
    long result = m->stack[0];
    free(m);
    return result;
}
#endif
