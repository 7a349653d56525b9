/* A row of items for each thread, which are set one after the other and read twice in each round. To be included behind
 * Item, set() and get(), and behind begin_item() where BEGIN is defined. */
#include "rounds.h"

static Item *rows[MOST_THREADS];

static void prepare(void) {
    for (int i = 0; i < threads; i++) {
        rows[i] = zeroed(n * sizeof(Item));
#if defined(BEGIN)
        for (long k = 0; k < n; k++) begin_item(&rows[i][k], scattered((uint32_t)k));
#endif
    }
}

__attribute__((noinline)) static void fill_row(Item *row, long round) {
    for (long i = 0; i < n; i++) set(&row[i], i + round);
}

static void fill(int me, long round) { fill_row(rows[me], round); }

__attribute__((noinline)) static double sum(const Item *row) {
    double sum = 0;
#if defined(BACKWARD)
    for (long i = n - 1; i >= 0; i--) sum += get(&row[i]);
#elif defined(SOME)
    for (long i = 0; i < n; i++) if (scattered(i) & 1) sum += get(&row[i]);
#else
    for (long i = 0; i < n; i++) sum += get(&row[i]);
#endif
    return sum;
}

static double use(int me) { return sum(rows[next(me)]) + sum(rows[next(me)]); }
