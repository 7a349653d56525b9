/* The molecules of both water kernels: points in a periodic box that attract and repel each other within a cutoff.
 *
 * Forces are summed as integers (units of 2^-32), so that a sum does not depend on the order of its terms. */
#ifndef WATER_H
#define WATER_H

#include "kernel.h"
#include <math.h>

static const double CUTOFF = 1.0;
static const double TIME_STEP = 1e-3;

struct molecule {
    double position[3], velocity[3];
    int64_t force[3];
};

/* The box's edge: 20 molecules for each cube of the cutoff. */
static inline double water_box(long molecules) {
    return ceil(cbrt((double)molecules / 20.0));
}

static inline void water_place(struct molecule *molecules, long count, double box) {
    for (long i = 0; i < count; i++)
        for (int d = 0; d < 3; d++) {
            molecules[i].position[d] = box * kernel_noise((uint64_t)(6 * i + d));
            molecules[i].velocity[d] = kernel_noise((uint64_t)(6 * i + 3 + d)) - 0.5;
        }
}

/* The force of b on a, in integer units; false beyond the cutoff. With a and b exchanged it is exactly the opposite. */
static inline int water_pair(const struct molecule *a, const struct molecule *b, double box, int64_t force[3]) {
    double delta[3], square = 0;
    for (int d = 0; d < 3; d++) {
        delta[d] = a->position[d] - b->position[d];
        if (delta[d] > 0.5 * box)
            delta[d] -= box;
        else if (delta[d] < -0.5 * box)
            delta[d] += box;
        square += delta[d] * delta[d];
    }
    if (square >= CUTOFF * CUTOFF)
        return 0;
    double strength = 1.0 / (square + 0.01) - 1.0 / (CUTOFF * CUTOFF + 0.01);
    for (int d = 0; d < 3; d++)
        force[d] = (int64_t)(strength * delta[d] * 0x1p32);
    return 1;
}

static inline void water_predict(struct molecule *m) {
    for (int d = 0; d < 3; d++) {
        m->position[d] += TIME_STEP * m->velocity[d];
        m->force[d] = 0;
    }
}

static inline void water_correct(struct molecule *m, double box) {
    for (int d = 0; d < 3; d++) {
        m->velocity[d] += TIME_STEP * (double)m->force[d] * 0x1p-32;
        if (m->position[d] < 0)
            m->position[d] += box;
        else if (m->position[d] >= box)
            m->position[d] -= box;
    }
}

static inline int64_t water_kinetic(const struct molecule *m) {
    double sum = 0;
    for (int d = 0; d < 3; d++)
        sum += m->velocity[d] * m->velocity[d];
    return (int64_t)(0.5 * sum * 0x1p32);
}

static inline uint64_t water_checksum(const struct molecule *molecules, long count, int64_t energy) {
    uint64_t checksum = kernel_mix(0, (uint64_t)energy);
    for (long i = 0; i < count; i++)
        for (int d = 0; d < 3; d++)
            checksum = kernel_mix_double(checksum, molecules[i].position[d]);
    return checksum;
}

#endif
