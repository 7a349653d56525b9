/* Water molecules in a grid of cells as wide as the cutoff, each cell meeting its neighbours only: O(n) (pthreads,
 * barriers, one mutex).
 *
 * A worker owns a share of the cells, in slices of the box, and the molecules that are in them. In moves it takes
 * the molecules that have left its cells out of its lists, then picks from the others' mail those that came to it.
 *
 * What communicates: interactions reads the positions in neighbouring cells at the edge of a worker's share, and
 * arrivals reads the mail; energy adds to one number under a mutex. */
#include "water.h"

static struct kernel_options options;
static double box;
static long cells_per_edge, cells;
static struct molecule *molecules;
static long *first_in_cell; /* the lists: a molecule's number plus 1, 0 = end */
static long *next_in_cell;
static long **mail, *mail_count;
static int64_t total_energy;
static pthread_mutex_t energy_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t barrier;

static long cell_of(const struct molecule *m) {
    long at[3];
    for (int d = 0; d < 3; d++) {
        at[d] = (long)m->position[d];
        at[d] = at[d] < cells_per_edge ? at[d] : cells_per_edge - 1;
    }
    return (at[0] * cells_per_edge + at[1]) * cells_per_edge + at[2];
}

static void enter(long cell, long molecule) {
    next_in_cell[molecule] = first_in_cell[cell];
    first_in_cell[cell] = molecule + 1;
}

static void predict(long begin, long end) {
    for (long cell = begin; cell < end; cell++)
        for (long i = first_in_cell[cell]; i; i = next_in_cell[i - 1])
            water_predict(&molecules[i - 1]);
}

static void meet(struct molecule *m, long neighbour) {
    for (long j = first_in_cell[neighbour]; j; j = next_in_cell[j - 1]) {
        int64_t force[3];
        if (&molecules[j - 1] != m && water_pair(m, &molecules[j - 1], box, force))
            for (int d = 0; d < 3; d++)
                m->force[d] += force[d];
    }
}

static void interactions(long begin, long end) {
    long edge = cells_per_edge;
    for (long cell = begin; cell < end; cell++) {
        long x = cell / (edge * edge), y = cell / edge % edge, z = cell % edge;
        for (long i = first_in_cell[cell]; i; i = next_in_cell[i - 1])
            for (long n = 0; n < 27; n++) {
                long nx = (x + n / 9 - 1 + edge) % edge, ny = (y + n / 3 % 3 - 1 + edge) % edge;
                long nz = (z + n % 3 - 1 + edge) % edge;
                meet(&molecules[i - 1], (nx * edge + ny) * edge + nz);
            }
    }
}

static int64_t correct(long begin, long end) {
    int64_t sum = 0;
    for (long cell = begin; cell < end; cell++)
        for (long i = first_in_cell[cell]; i; i = next_in_cell[i - 1]) {
            water_correct(&molecules[i - 1], box);
            sum += water_kinetic(&molecules[i - 1]);
        }
    return sum;
}

static void departures(long id, long begin, long end) {
    mail_count[id] = 0;
    for (long cell = begin; cell < end; cell++) {
        long *link = &first_in_cell[cell];
        while (*link) {
            long i = *link - 1;
            if (cell_of(&molecules[i]) == cell) {
                link = &next_in_cell[i];
            } else {
                *link = next_in_cell[i];
                mail[id][mail_count[id]++] = i;
            }
        }
    }
}

static void arrivals(long begin, long end) {
    for (long sender = 0; sender < options.threads; sender++)
        for (long k = 0; k < mail_count[sender]; k++) {
            long cell = cell_of(&molecules[mail[sender][k]]);
            if (begin <= cell && cell < end)
                enter(cell, mail[sender][k]);
        }
}

static void energy(int64_t sum) {
    pthread_mutex_lock(&energy_mutex);
    total_energy += sum;
    pthread_mutex_unlock(&energy_mutex);
}

static void *work(void *argument) {
    long id = (intptr_t)argument;
    long begin = kernel_share(cells, id, options.threads), end = kernel_share(cells, id + 1, options.threads);
    for (long step = 0; step < options.steps; step++) {
        predict(begin, end);
        pthread_barrier_wait(&barrier);
        interactions(begin, end);
        pthread_barrier_wait(&barrier);
        energy(correct(begin, end));
        departures(id, begin, end);
        pthread_barrier_wait(&barrier);
        arrivals(begin, end);
    }
    return NULL;
}

int main(int argc, char **argv) {
    options = kernel_parse(argc, argv, (struct kernel_options){2, 6000, 40, 1});
    box = water_box(options.size);
    cells_per_edge = (long)box;
    if (cells_per_edge < 3)
        kernel_fail("the size must be at least 161: 3 cells for each edge");
    cells = cells_per_edge * cells_per_edge * cells_per_edge;
    molecules = kernel_alloc((size_t)options.size, sizeof *molecules);
    next_in_cell = kernel_alloc((size_t)options.size, sizeof *next_in_cell);
    first_in_cell = kernel_alloc((size_t)cells, sizeof *first_in_cell);
    mail = kernel_alloc((size_t)options.threads, sizeof *mail);
    mail_count = kernel_alloc((size_t)options.threads, sizeof *mail_count);
    for (long t = 0; t < options.threads; t++)
        mail[t] = kernel_alloc((size_t)options.size, sizeof **mail);
    water_place(molecules, options.size, box);
    for (long i = 0; i < options.size; i++)
        enter(cell_of(&molecules[i]), i);
    pthread_barrier_init(&barrier, NULL, (unsigned)options.threads);
    kernel_team(options.threads, work);
    kernel_print(water_checksum(molecules, options.size, total_energy));
    return 0;
}
