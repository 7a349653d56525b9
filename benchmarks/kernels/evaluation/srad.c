/* Speckle reducing anisotropic diffusion (OpenMP), the row "SRAD" of the paper's Table 2.
 *
 * What communicates: the first loop reads the image at the borders of the threads' shares, the second the coefficients
 * there. Default: both loops go down the columns of a row-major image, and a thread owns columns, so that all rows of
 * its share lie between two uses of a border. REORDERED: along rows, and a thread owns rows. */
#include "../kernel.h"
#include <omp.h>

#ifdef REORDERED
#define FOR_POINTS for (long i = 0; i < n; i++) for (long j = 0; j < n; j++)
#else
#define FOR_POINTS for (long j = 0; j < n; j++) for (long i = 0; i < n; i++)
#endif

struct field {
    float *image, *coefficient, *north, *south, *west, *east;
};

static void derivatives(const struct field *f, long n, float q0) {
#pragma omp parallel for schedule(static)
    FOR_POINTS {
        long k = i * n + j;
        float here = f->image[k];
        float up = f->image[i > 0 ? k - n : k] - here, down = f->image[i < n - 1 ? k + n : k] - here;
        float left = f->image[j > 0 ? k - 1 : k] - here, right = f->image[j < n - 1 ? k + 1 : k] - here;
        float gradient = (up * up + down * down + left * left + right * right) / (here * here);
        float laplacian = (up + down + left + right) / here;
        float spread = 1 + 0.25f * laplacian;
        float q = (0.5f * gradient - 0.0625f * laplacian * laplacian) / (spread * spread);
        float c = 1 / (1 + (q - q0) / (q0 * (1 + q0)));
        f->north[k] = up;
        f->south[k] = down;
        f->west[k] = left;
        f->east[k] = right;
        f->coefficient[k] = c < 0 ? 0 : c > 1 ? 1 : c;
    }
}

static void diffuse(const struct field *f, long n, float rate) {
#pragma omp parallel for schedule(static)
    FOR_POINTS {
        long k = i * n + j;
        float here = f->coefficient[k];
        float below = f->coefficient[i < n - 1 ? k + n : k], beside = f->coefficient[j < n - 1 ? k + 1 : k];
        float divergence = here * f->north[k] + below * f->south[k] + here * f->west[k] + beside * f->east[k];
        f->image[k] += 0.25f * rate * divergence;
    }
}

int main(int argc, char **argv) {
    struct kernel_options options = kernel_parse(argc, argv, (struct kernel_options){2, 512, 20, 1});
    long n = options.size;
    size_t points = (size_t)(n * n);
    float *memory[6];
    for (int i = 0; i < 6; i++)
        memory[i] = kernel_alloc(points, sizeof(float));
    struct field f = {memory[0], memory[1], memory[2], memory[3], memory[4], memory[5]};
    omp_set_num_threads((int)options.threads);
    for (size_t i = 0; i < points; i++)
        f.image[i] = 0.5f + (float)kernel_noise(i);
    for (long step = 0; step < options.steps; step++) {
        derivatives(&f, n, 0.5f / (float)(step + 1));
        diffuse(&f, n, 0.5f);
    }
    uint64_t checksum = 0;
    for (size_t i = 0; i < points; i++)
        checksum = kernel_mix_double(checksum, f.image[i]);
    kernel_print(checksum);
    return 0;
}
