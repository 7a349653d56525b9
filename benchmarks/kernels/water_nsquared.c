/* Water molecules, each pair tried: O(n^2) (pthreads, barriers, one mutex).
 *
 * A worker owns a share of the molecules. In interactions it meets each of its molecules with the half of all others
 * that follow it in a ring, keeps both forces of a pair in an array of its own, and collect adds up what all workers kept.
 *
 * What communicates: interactions reads all positions (written in predict by their owners), collect reads the
 * other workers' forces, energy adds to one number under a mutex. */
#include "water.h"

static struct kernel_options options;
static double box;
static struct molecule *molecules;
static int64_t (**kept)[3];
static int64_t total_energy;
static pthread_mutex_t energy_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t barrier;

static void predict(long begin, long end) {
    for (long i = begin; i < end; i++)
        water_predict(&molecules[i]);
}

static void interactions(long begin, long end, int64_t (*forces)[3]) {
    long n = options.size;
    memset(forces, 0, (size_t)n * sizeof *forces);
    for (long i = begin; i < end; i++) {
        /* In a ring of even length the molecule opposite is met by the lower half only. */
        long followers = n % 2 ? n / 2 : (i < n / 2 ? n / 2 : n / 2 - 1);
        for (long k = 1; k <= followers; k++) {
            long j = i + k < n ? i + k : i + k - n;
            int64_t force[3];
            if (!water_pair(&molecules[i], &molecules[j], box, force))
                continue;
            for (int d = 0; d < 3; d++) {
                forces[i][d] += force[d];
                forces[j][d] -= force[d];
            }
        }
    }
}

static void collect(long begin, long end) {
    for (long worker = 0; worker < options.threads; worker++)
        for (long i = begin; i < end; i++)
            for (int d = 0; d < 3; d++)
                molecules[i].force[d] += kept[worker][i][d];
}

static void correct(long begin, long end) {
    for (long i = begin; i < end; i++)
        water_correct(&molecules[i], box);
}

static void energy(long begin, long end) {
    int64_t sum = 0;
    for (long i = begin; i < end; i++)
        sum += water_kinetic(&molecules[i]);
    pthread_mutex_lock(&energy_mutex);
    total_energy += sum;
    pthread_mutex_unlock(&energy_mutex);
}

static void *work(void *argument) {
    long id = (intptr_t)argument;
    long begin = kernel_share(options.size, id, options.threads);
    long end = kernel_share(options.size, id + 1, options.threads);
    for (long step = 0; step < options.steps; step++) {
        predict(begin, end);
        pthread_barrier_wait(&barrier);
        interactions(begin, end, kept[id]);
        pthread_barrier_wait(&barrier);
        collect(begin, end);
        correct(begin, end);
        energy(begin, end);
    }
    return NULL;
}

int main(int argc, char **argv) {
    options = kernel_parse(argc, argv, (struct kernel_options){2, 6000, 3, 1});
    box = water_box(options.size);
    molecules = kernel_alloc((size_t)options.size, sizeof *molecules);
    kept = kernel_alloc((size_t)options.threads, sizeof *kept);
    for (long t = 0; t < options.threads; t++)
        kept[t] = kernel_alloc((size_t)options.size, sizeof **kept);
    water_place(molecules, options.size, box);
    pthread_barrier_init(&barrier, NULL, (unsigned)options.threads);
    kernel_team(options.threads, work);
    kernel_print(water_checksum(molecules, options.size, total_energy));
    return 0;
}
