/* Training of a network with one wide input layer and a narrow hidden one (OpenMP), the row "Back Propagation" of the
 * paper's Table 2.
 *
 * What communicates: the main thread writes the inputs of each step and the hidden units' errors; all threads read them
 * while they adjust the weights. Default: a thread owns hidden units and walks down their columns of weights, so that
 * it passes over all inputs for each of its units. REORDERED: a thread owns inputs and goes along a row of weights in
 * tiles of 16 hidden units, so that it uses each input for all units at once. */
#include "../kernel.h"
#include <math.h>
#include <omp.h>

enum { HIDDEN = 16 };
static const float RATE = 0.3f, MOMENTUM = 0.3f;

/* Weighted sums of the inputs, and the squashed sums. Chunks of inputs are added up in order by the main thread. */
enum { CHUNKS = 64 };
static void forward(const float *weights, const float *input, long n, float *hidden) {
    static float part[CHUNKS][HIDDEN];
#pragma omp parallel for schedule(static)
    for (long chunk = 0; chunk < CHUNKS; chunk++) {
        float sum[HIDDEN] = {0};
        for (long k = kernel_share(n, chunk, CHUNKS); k < kernel_share(n, chunk + 1, CHUNKS); k++)
            for (long j = 0; j < HIDDEN; j++)
                sum[j] += weights[k * HIDDEN + j] * input[k];
        memcpy(part[chunk], sum, sizeof sum);
    }
    for (long j = 0; j < HIDDEN; j++) {
        float sum = 0;
        for (long chunk = 0; chunk < CHUNKS; chunk++)
            sum += part[chunk][j];
        hidden[j] = 1 / (1 + expf(-sum));
    }
}

static inline void adjust_one(float *weight, float *change, float error, float input) {
    *change = RATE * error * input + MOMENTUM * *change;
    *weight += *change;
}

static void adjust_weights(float *weights, float *changes, const float *input, const float *error, long n) {
#ifdef REORDERED
#pragma omp parallel for schedule(static)
    for (long k = 0; k < n; k++)
        for (long j = 0; j < HIDDEN; j++)
            adjust_one(&weights[k * HIDDEN + j], &changes[k * HIDDEN + j], error[j], input[k]);
#else
#pragma omp parallel for schedule(static)
    for (long j = 0; j < HIDDEN; j++)
        for (long k = 0; k < n; k++)
            adjust_one(&weights[k * HIDDEN + j], &changes[k * HIDDEN + j], error[j], input[k]);
#endif
}

int main(int argc, char **argv) {
    struct kernel_options options = kernel_parse(argc, argv, (struct kernel_options){2, 65536, 40, 1});
    long n = options.size;
    size_t count = (size_t)(n * HIDDEN);
    float *weights = kernel_alloc(count, sizeof *weights), *changes = kernel_alloc(count, sizeof *changes);
    float *input = kernel_alloc((size_t)n, sizeof *input), hidden[HIDDEN], error[HIDDEN];
    omp_set_num_threads((int)options.threads);
    for (size_t i = 0; i < count; i++)
        weights[i] = (float)(kernel_noise(i) - 0.5) / (float)n;
    uint64_t checksum = 0;
    for (long step = 0; step < options.steps; step++) {
        for (long k = 0; k < n; k++)
            input[k] = (float)kernel_noise((uint64_t)(step * n + k));
        forward(weights, input, n, hidden);
        for (long j = 0; j < HIDDEN; j++)
            error[j] = hidden[j] * (1 - hidden[j]) * ((float)(j % 2) - hidden[j]);
        adjust_weights(weights, changes, input, error, n);
        checksum = kernel_mix_double(checksum, hidden[step % HIDDEN]);
    }
    for (size_t i = 0; i < count; i++)
        checksum = kernel_mix_double(checksum, weights[i]);
    kernel_print(checksum);
    return 0;
}
