/* Gravitation among bodies, every pair (C++, OpenMP).
 *
 * What communicates: accelerate reads the positions of all bodies, each written in advance by the thread that owns
 * it: all to all, once for each step, and reused for each body of the reader. */
#include "kernel.h"
#include <cmath>
#include <omp.h>
#include <vector>

struct Vector {
    double x, y, z;
};

struct Body {
    Vector position, velocity, acceleration;
    double mass;
};

static void accelerate(std::vector<Body> &bodies) {
    const long count = static_cast<long>(bodies.size());
#pragma omp parallel for schedule(static)
    for (long i = 0; i < count; i++) {
        Vector sum{0, 0, 0};
        const Vector at = bodies[i].position;
        for (const Body &other : bodies) {
            const double dx = other.position.x - at.x, dy = other.position.y - at.y, dz = other.position.z - at.z;
            const double square = dx * dx + dy * dy + dz * dz + 1e-4;
            const double pull = other.mass / (square * std::sqrt(square));
            sum = {sum.x + pull * dx, sum.y + pull * dy, sum.z + pull * dz};
        }
        bodies[i].acceleration = sum;
    }
}

static void advance(std::vector<Body> &bodies, double step) {
    const long count = static_cast<long>(bodies.size());
#pragma omp parallel for schedule(static)
    for (long i = 0; i < count; i++) {
        Body &b = bodies[i];
        b.velocity = {b.velocity.x + step * b.acceleration.x, b.velocity.y + step * b.acceleration.y,
                      b.velocity.z + step * b.acceleration.z};
        b.position = {b.position.x + step * b.velocity.x, b.position.y + step * b.velocity.y,
                      b.position.z + step * b.velocity.z};
    }
}

int main(int argc, char **argv) {
    const kernel_options options = kernel_parse(argc, argv, {2, 4000, 8, 1});
    omp_set_num_threads(static_cast<int>(options.threads));
    std::vector<Body> bodies(static_cast<std::size_t>(options.size));
    for (uint64_t i = 0; i < bodies.size(); i++)
        bodies[i] = {{kernel_noise(4 * i), kernel_noise(4 * i + 1), kernel_noise(4 * i + 2)},
                     {0, 0, 0},
                     {0, 0, 0},
                     kernel_noise(4 * i + 3)};
    for (long step = 0; step < options.steps; step++) {
        accelerate(bodies);
        advance(bodies, 1e-6);
    }
    uint64_t checksum = 0;
    for (const Body &b : bodies)
        for (double value : {b.position.x, b.position.y, b.position.z})
            checksum = kernel_mix_double(checksum, value);
    kernel_print(checksum);
}
