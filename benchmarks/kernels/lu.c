/* LU factorisation of a dense matrix in blocks, without pivoting (pthreads, barriers).
 *
 * Block (I, J) belongs to worker (I mod rows, J mod columns) of the grid of workers; only its owner writes it. Step K
 * factors the diagonal block, then updates the blocks below (bdiv) and right of it (bmodd), then the rest (bmod).
 *
 *   without CONTIGUOUS   the matrix is one row-major array: the rows of a block are a matrix row apart
 *   with CONTIGUOUS      each block is an array of its own
 *
 * What communicates: bdiv and bmodd read the diagonal block of step K, bmod reads one block of column K and one of
 * row K, each written by its owner since the last barrier. The first reads of all blocks find what worker 0 filled in. */
#include "kernel.h"

static struct kernel_options options;
static long blocks, grid_rows, grid_columns;
static pthread_barrier_t barrier;

#ifdef CONTIGUOUS
static double **block_table;

static inline double *block_at(long i, long j) {
    return block_table[i * blocks + j];
}
static inline long row_stride(void) {
    return options.block;
}
#else
static double *matrix;

static inline double *block_at(long i, long j) {
    return matrix + i * options.block * options.size + j * options.block;
}
static inline long row_stride(void) {
    return options.size;
}
#endif

static long owner(long i, long j) {
    return i % grid_rows * grid_columns + j % grid_columns;
}

static void daxpy(double *y, const double *x, long count, double alpha) {
    for (long j = 0; j < count; j++)
        y[j] += alpha * x[j];
}

static void factor_diagonal(double *a, long size, long stride) {
    for (long k = 0; k < size; k++)
        for (long i = k + 1; i < size; i++) {
            a[i * stride + k] /= a[k * stride + k];
            daxpy(&a[i * stride + k + 1], &a[k * stride + k + 1], size - k - 1, -a[i * stride + k]);
        }
}

/* A block below the diagonal: a := a * inverse(upper triangle of diagonal). */
static void bdiv(double *a, const double *diagonal, long size, long stride) {
    for (long k = 0; k < size; k++)
        for (long i = 0; i < size; i++) {
            a[i * stride + k] /= diagonal[k * stride + k];
            daxpy(&a[i * stride + k + 1], &diagonal[k * stride + k + 1], size - k - 1, -a[i * stride + k]);
        }
}

/* A block right of the diagonal: a := inverse(unit lower triangle of diagonal) * a. */
static void bmodd(double *a, const double *diagonal, long size, long stride) {
    for (long k = 0; k < size; k++)
        for (long i = k + 1; i < size; i++)
            daxpy(&a[i * stride], &a[k * stride], size, -diagonal[i * stride + k]);
}

/* An inner block: a := a - left * upper. */
static void bmod(double *a, const double *left, const double *upper, long size, long stride) {
    for (long k = 0; k < size; k++)
        for (long i = 0; i < size; i++)
            daxpy(&a[i * stride], &upper[k * stride], size, -left[i * stride + k]);
}

static void *factor(void *argument) {
    long id = (intptr_t)argument, size = options.block, stride = row_stride();
    for (long k = 0; k < blocks; k++) {
        if (owner(k, k) == id)
            factor_diagonal(block_at(k, k), size, stride);
        pthread_barrier_wait(&barrier);
        for (long i = k + 1; i < blocks; i++) {
            if (owner(i, k) == id)
                bdiv(block_at(i, k), block_at(k, k), size, stride);
            if (owner(k, i) == id)
                bmodd(block_at(k, i), block_at(k, k), size, stride);
        }
        pthread_barrier_wait(&barrier);
        for (long i = k + 1; i < blocks; i++)
            for (long j = k + 1; j < blocks; j++)
                if (owner(i, j) == id)
                    bmod(block_at(i, j), block_at(i, k), block_at(k, j), size, stride);
    }
    return NULL;
}

static double *element(long i, long j) {
    long size = options.block;
    return block_at(i / size, j / size) + i % size * row_stride() + j % size;
}

int main(int argc, char **argv) {
    options = kernel_parse(argc, argv, (struct kernel_options){2, 1536, 1, 16});
    if (options.size % options.block)
        kernel_fail("the size must be a multiple of the block");
    blocks = options.size / options.block;
    kernel_worker_grid(options.threads, &grid_rows, &grid_columns);
#ifdef CONTIGUOUS
    block_table = kernel_alloc((size_t)(blocks * blocks), sizeof *block_table);
    for (long b = 0; b < blocks * blocks; b++)
        block_table[b] = kernel_alloc((size_t)(options.block * options.block), sizeof **block_table);
#else
    matrix = kernel_alloc((size_t)(options.size * options.size), sizeof *matrix);
#endif
    for (long i = 0; i < options.size; i++)
        for (long j = 0; j < options.size; j++)
            /* Dominated by its diagonal, so that no pivoting is needed. */
            *element(i, j) = kernel_noise((uint64_t)(i * options.size + j)) + (i == j ? (double)options.size : 0);
    pthread_barrier_init(&barrier, NULL, (unsigned)options.threads);
    kernel_team(options.threads, factor);
    uint64_t checksum = 0;
    for (long i = 0; i < options.size; i++)
        for (long j = 0; j < options.size; j++)
            checksum = kernel_mix_double(checksum, *element(i, j));
    kernel_print(checksum);
    return 0;
}
