// Runs the schedule in the file "schedule": lines "thread kernel a b n s" in order, each by its thread while the others wait. The kernels are
// what optimisers like: plain loops over arrays of all element sizes, which they vectorise, unroll and turn into library calls.
// The addresses a and b are offsets into one buffer. Every thread reads the schedule itself, so that it communicates nothing.
#include "team.h"
#include <string.h>

enum { BYTES = 1 << 16 };
static char memory[BYTES] __attribute__((aligned(4096)));
static pthread_barrier_t turn;

#define FILL(name, type)                                          \
    NOINLINE void name(type *a, long n, type value) {             \
        for (long i = 0; i < n; i++)                              \
            a[i] = value;                                         \
    }
#define SUM(name, type)                                           \
    NOINLINE type name(const type *a, long n) {                   \
        type sum = 0;                                             \
        for (long i = 0; i < n; i++)                              \
            sum += a[i];                                          \
        return sum;                                               \
    }
FILL(fill1, int8_t)
FILL(fill2, int16_t)
FILL(fill4, int32_t)
FILL(fill8, int64_t)
SUM(sum1, int8_t)
SUM(sum2, int16_t)
SUM(sum4, int32_t)
SUM(sum8, int64_t)
SUM(sumf, float)
SUM(sumd, double)

// Every s-th element; s is never 0 and may be negative. The stride is unknown, so nothing beside the elements is loaded.
NOINLINE long strided_sum(const int32_t *a, long n, long s) {
    long sum = 0;
    for (long i = 0; i < n; i++)
        sum += a[i * s];
    return sum;
}

NOINLINE void strided_fill(int64_t *a, long n, long s) {
    for (long i = 0; i < n; i++)
        a[i * s] = i;
}

NOINLINE long backwards(const int16_t *a, long n) {
    long sum = 0;
    for (long i = n; i-- > 0;)
        sum += a[i];
    return sum;
}

// Reads and writes each element: own afterwards.
NOINLINE void increment(int32_t *a, long n) {
    for (long i = 0; i < n; i++)
        a[i]++;
}

// b[i] += a[i]; the arrays may not overlap.
NOINLINE void add(int32_t *restrict b, const int32_t *restrict a, long n) {
    for (long i = 0; i < n; i++)
        b[i] += a[i];
}

// Each element from one s before: with 0 < s < n what is read was written by the loop itself.
NOINLINE void shift(volatile int32_t *a, long n, long s) {
    for (long i = 0; i < n; i++)
        a[i + s] = a[i];
}

// A row of n elements, s times over.
NOINLINE long repeated(const volatile int64_t *a, long n, long s) {
    long sum = 0;
    for (long k = 0; k < s; k++)
        for (long i = 0; i < n; i++)
            sum += a[i];
    return sum;
}

// Columns of a matrix with rows of s elements, n rows: the inner loop strides.
NOINLINE long columns(const volatile int32_t *a, long n, long s) {
    long sum = 0;
    for (long j = 0; j < s; j++)
        for (long i = 0; i < n; i++)
            sum += a[i * s + j];
    return sum;
}

// The lower triangle of a matrix of n rows.
NOINLINE long triangle(const int32_t *a, long n) {
    long sum = 0;
    for (long i = 0; i < n; i++)
        for (long j = 0; j <= i; j++)
            sum += a[i * n + j];
    return sum;
}

typedef struct { int32_t first, second; int64_t third; } Record;

// Two of the three fields of each record, in straight code.
NOINLINE long fields(const volatile Record *a, long n) {
    long sum = 0;
    for (long i = 0; i < n; i++)
        sum += a[i].first + a[i].third + a[i].first;
    return sum;
}

NOINLINE void assign(Record *b, const Record *a, long n) {
    for (long i = 0; i < n; i++) {
        b[i] = a[i];
        FENCE();
    }
}

typedef volatile struct { int32_t value; } __attribute__((packed)) Unaligned;

NOINLINE long unaligned(const char *a, long n) {
    long sum = 0;
    for (long i = 0; i < n; i++)
        sum += ((const Unaligned *)(a + 5 * i))->value;
    return sum;
}

NOINLINE void copy(void *b, const void *a, long n) { memcpy(b, a, (size_t)n); }
NOINLINE void move(void *b, const void *a, long n) { memmove(b, a, (size_t)n); }
NOINLINE void set(void *a, long n, int s) { memset(a, s, (size_t)n); }

static void *run(void *argument) {
    int self = (int)(intptr_t)argument, thread, kernel;
    long a, b, n, s;
    FILE *lines = fopen("schedule", "r");
    if (lines == NULL)
        abort();
    while (fscanf(lines, "%d %d %ld %ld %ld %ld", &thread, &kernel, &a, &b, &n, &s) == 6) {
        pthread_barrier_wait(&turn);
        if (thread != self)
            continue;
        void *at = memory + a, *other = memory + b;
        long result = 0;
        switch (kernel) {
        case 0: fill1(at, n, 0); break;
        case 1: fill2(at, n, 0); break;
        case 2: fill4(at, n, 0); break;
        case 3: fill8(at, n, 0); break;
        case 4: result = sum1(at, n); break;
        case 5: result = sum2(at, n); break;
        case 6: result = sum4(at, n); break;
        case 7: result = sum8(at, n); break;
        case 8: result = (long)sumf(at, n); break;
        case 9: result = (long)sumd(at, n); break;
        case 10: result = strided_sum(at, n, s); break;
        case 11: strided_fill(at, n, s); break;
        case 12: result = backwards(at, n); break;
        case 13: increment(at, n); break;
        case 14: add(other, at, n); break;
        case 15: shift(at, n, s); break;
        case 16: result = repeated(at, n, s); break;
        case 17: result = columns(at, n, s); break;
        case 18: result = triangle(at, n); break;
        case 19: result = fields(at, n); break;
        case 20: assign(other, at, n); break;
        case 21: result = unaligned(at, n); break;
        case 22: copy(other, at, n); break;
        case 23: move(other, at, n); break;
        case 24: set(at, n, 0); break;
        default: abort();
        }
        USE(result);
    }
    fclose(lines);
    return NULL;
}

int main(int count, char **arguments) {
    if (count != 2)
        return 2;
    int threads = atoi(arguments[1]);
    pthread_barrier_init(&turn, NULL, threads);
    team(threads, run);
    return 0;
}
