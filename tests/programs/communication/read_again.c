// Loops that read pointers and bounds again in each iteration, as their stores may be to any of them. Bytes and pairs go
// elsewhere. Then loops whose stores do change a bound, upwards and downwards, and a pointer, and which go on as the
// change says; so do nests of such loops, of which each row begins with what is before it. Worker 1 writes all, worker 2 runs the loops, worker 3 looks at what they have done. Bounds that change are
// worker 2's own, so that nothing but the change itself stands against running these loops without hooks.
// THREADS: 4
// LET: N = 1024
// LET: ROWS = 16
// LET: FIELDS = 7 + 2 * 2
// EXPECT: raw = FIELDS + N * ROWS / 4 + 4 * N if w == 1 && r == 2; 43 + 10 if w == 1 && r == 3; 21 + 54 + 2 * 64 if w == 2 && r == 3
// EXPECT: raw lines dark -> bytes = N * ROWS / 4
// EXPECT: rar lines dark -> bytes = 3 * N * ROWS / 4
// EXPECT: raw lines points -> pairs = 4 * N
// EXPECT: rar lines points -> pairs = 0
// LEVELS: O0, O2, O3, O3 -mavx2
#include "team.h"

enum { N = 1024, ROWS = 16 };
struct image {
    int width, height;
    unsigned char *bytes;
};
struct pair {
    double re, im;
};
typedef uintptr_t __attribute__((may_alias)) word;

struct image dark, light;
struct pair from[N], to[N];
struct pair *sources[1], *targets[1];
int up[64], down[64];
word memory[32], other[64];
word rows[ROWS * N], *all_rows;
static pthread_barrier_t stage;

static NOINLINE void fill(void) {
    static unsigned char bytes[2][N * ROWS] __attribute__((aligned(64)));
    for (int i = 0; i < N * ROWS; i++)
        bytes[0][i] = (unsigned char)i; /*@dark*/
    dark = (struct image){N, ROWS, bytes[0]};
    light = (struct image){N, ROWS, bytes[1]};
    for (int i = 0; i < N; i++)
        from[i] = (struct pair){i, -i}; /*@points*/
    sources[0] = from;
    targets[0] = to;
    for (int i = 0; i < 64; i++)
        up[i] = down[i] = 60;
}

NOINLINE void invert(const struct image *in, struct image *out) {
    for (int y = 0; y < out->height; y++)
        for (int x = 0; x < out->width; x++)
            out->bytes[y * out->width + x] = (unsigned char)~in->bytes[y * in->width + x]; /*@bytes*/
}

NOINLINE void copy(struct pair **out, struct pair **in, long n) {
    for (long i = 0; i < n; i++)
        (*out)[i] = (*in)[i]; /*@pairs*/
}

NOINLINE void stop_upwards(int *at, int *bound) {
    for (int i = 0; i < *bound; i++)
        at[i] = i / 2;
}

NOINLINE void stop_downwards(int *at, int *bound) {
    for (int i = 63; i >= *bound; i--)
        at[i] = 40;
}

NOINLINE void go_elsewhere(word **at, word *elsewhere, long n) {
    for (long i = 0; i < n; i++)
        (*at)[i] = (word)elsewhere;
}

NOINLINE void carry(const word *step, long height) {
    for (long y = 0; y < height; y++) {
        word before = 0;
        for (long x = 0; x < N; x++) {
            all_rows[y * N + x] = before + 1;
            before = *step;
        }
    }
}

// Where *step is stored to, it grows by one: once.
static int carried(const word *step) {
    int errors = 0;
    word now = 7;
    for (long i = 0; i < ROWS * N; i++) {
        word before = i % N == 0 ? 0 : now;
        errors += rows[i] != before + 1;
        now += &rows[i] == step;
    }
    return errors;
}

static NOINLINE int look(void) {
    int errors = 0;
    for (int i = 0; i < 64; i++) {
        errors += up[i] != (i <= 20 ? i / 2 : 60);
        errors += down[i] != (i < 10 ? 60 : 40);
        if (i >= 6)
            errors += other[i] != (word)other;
        else
            errors += memory[i] != (word)other;
    }
    return errors;
}

static void *work(void *argument) {
    intptr_t worker = (intptr_t)argument;
    if (worker == 1)
        fill();
    pthread_barrier_wait(&stage);
    if (worker == 2) {
        invert(&dark, &light);
        copy(targets, sources, N);
        up[20] = 60;
        down[10] = 0;
        memory[5] = (word)memory;
        stop_upwards(up, &up[20]);
        stop_downwards(down, &down[10]);
        go_elsewhere((word **)&memory[5], other, 64);
        all_rows = rows;
        word *step = &rows[N * ROWS / 2 + N / 2];
        *step = 7;
        carry(step, ROWS);
        if (carried(step) != 0)
            abort();
    }
    pthread_barrier_wait(&stage);
    if (worker == 3 && look() != 0)
        abort();
    return NULL;
}

int main(void) {
    pthread_barrier_init(&stage, NULL, 3);
    team(3, work);
    return 0;
}
