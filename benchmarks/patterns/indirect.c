/* What is read is found by what was read: index vectors, lists, trees, tables. */
#include "rounds.h"

static double *values;
static int *places;

static inline long from(int me) { return n * me / threads; }
static inline long to(int me) { return n * (me + 1) / threads; }

#if defined(LIST) || defined(TREE)
typedef struct Node Node;
struct Node { long key; double value; Node *left, *right; };
static Node *nodes;
#if defined(TREE)
static Node *root;
static void insert(Node *node) {
    Node **at = &root;
    while (*at) at = node->key < (*at)->key ? &(*at)->left : &(*at)->right;
    *at = node;
}
#endif
#elif defined(TABLE)
typedef struct { uint32_t key; float value; } Cell;
static Cell *cells;
static long mask;
#endif

static void prepare(void) {
    values = zeroed(n * sizeof(double));
    places = zeroed(n * sizeof(int));
    for (long i = 0; i < n; i++) places[i] = i;
    for (long i = n - 1; i > 0; i--) {
        long j = scattered(i) % (i + 1);
        int held = places[i];
        places[i] = places[j], places[j] = held;
    }
#if defined(LIST)
    nodes = zeroed(n * sizeof(Node));
    for (long i = 0; i + 1 < n; i++) nodes[places[i]].right = &nodes[places[i + 1]];
#elif defined(TREE)
    nodes = zeroed(n * sizeof(Node));
    for (long i = 0; i < n; i++) nodes[i].key = scattered(i), insert(&nodes[i]);
#elif defined(TABLE)
    for (mask = 1; mask < 2 * n; mask *= 2) {}
    cells = zeroed(mask * sizeof(Cell));
    mask--;
#endif
}

#if defined(GATHER)
__attribute__((noinline)) static void fill(int me, long round) {
    for (long i = from(me); i < to(me); i++) values[i] = i + round;
}
__attribute__((noinline)) static double use(int me) {
    double sum = 0;
    for (long i = from(me); i < to(me); i++) sum += values[places[i]];
    return sum;
}
#elif defined(SCATTER)
__attribute__((noinline)) static void fill(int me, long round) {
    for (long i = from(me); i < to(me); i++) values[places[i]] = i + round;
}
__attribute__((noinline)) static double use(int me) {
    double sum = 0;
    for (long i = from(me); i < to(me); i++) sum += values[i];
    return sum;
}
#elif defined(HISTOGRAM)
static long counts[MOST_THREADS][256];
__attribute__((noinline)) static void fill(int me, long round) {
    for (int i = 0; i < 256; i++) counts[me][i] = round;
    for (long i = from(me); i < to(me); i++) counts[me][places[i] & 255]++;
}
__attribute__((noinline)) static double use(int me) {
    double sum = me;
    for (int t = 0; t < threads; t++)
        for (int i = 0; i < 256; i++) sum += counts[t][i] * i;
    return sum;
}
#elif defined(APPEND)
/* A thread sorts its numbers into rows; its neighbour reads them all. */
enum { ROWS = 256 };
__attribute__((noinline)) static void fill(int me, long round) {
    long end[ROWS], length = (to(me) - from(me)) / ROWS;
    for (long row = 0; row < ROWS; row++) end[row] = from(me) + length * row;
    for (long i = from(me); i < to(me); i++) {
        long row = places[i] % ROWS;
        if (end[row] < to(me)) values[end[row]++] = i + round;
    }
}
__attribute__((noinline)) static double use(int me) {
    double sum = 0;
    for (long i = from(next(me)); i < to(next(me)); i++) sum += values[i];
    return sum;
}
#elif defined(LIST)
__attribute__((noinline)) static void fill(int me, long round) {
    for (long i = from(me); i < to(me); i++) nodes[i].value = i + round;
}
__attribute__((noinline)) static double use(int me) {
    double sum = me;
    for (const Node *node = &nodes[places[0]]; node; node = node->right) sum += node->value;
    return sum;
}
#elif defined(TREE)
__attribute__((noinline)) static void fill(int me, long round) {
    for (long i = from(me); i < to(me); i++) nodes[i].value = i + round;
}
__attribute__((noinline)) static double find(long key) {
    const Node *node = root;
    while (node->key != key) node = key < node->key ? node->left : node->right;
    return node->value;
}
__attribute__((noinline)) static double use(int me) {
    double sum = 0;
    for (long i = from(me); i < to(me); i++) sum += find(scattered(places[i]));
    return sum;
}
#elif defined(TABLE)
__attribute__((noinline)) static void fill(int me, long round) {
    if (me == 0) memset(cells, 0, (mask + 1) * sizeof *cells);
    if (me == 0)
        for (long i = 0; i < n; i++) {
            long at = scattered(i) & mask;
            while (cells[at].key) at = (at + 1) & mask;
            cells[at].key = i + 1, cells[at].value = round;
        }
}
__attribute__((noinline)) static double use(int me) {
    double sum = 0;
    for (long i = from(me); i < to(me); i++) {
        uint32_t key = places[i];
        long at = scattered(key) & mask;
        while (cells[at].key != key + 1) at = (at + 1) & mask;
        sum += cells[at].value;
    }
    return sum;
}
#elif defined(SWAPS)
/* Threads exchange elements of their own block, and read another's. */
__attribute__((noinline)) static void fill(int me, long round) {
    long first = from(me), size = to(me) - first;
    for (long i = 0; i < size; i++) {
        long a = first + scattered(i + round) % size, b = first + i;
        int held = places[a];
        places[a] = places[b], places[b] = held;
    }
}
__attribute__((noinline)) static double use(int me) {
    double sum = 0;
    long first = from(next(me)), size = to(next(me)) - first;
    for (long i = 0; i < size; i++) sum += places[first + scattered(i) % size] & i;
    return sum;
}
#endif
