/* Currents in a square basin: a stream function advanced in time, each step solving a Poisson equation by red-black
 * successive over-relaxation (pthreads, barriers).
 *
 * The grid is cut into one rectangle for each worker of a grid of workers.
 *
 *   without CONTIGUOUS   a field is one 2-D array; a worker reads its neighbours' edges where they are
 *   with CONTIGUOUS      each rectangle is an array of its own with a rim of ghost points, which copy_edges fills
 *
 * What communicates: the points next to a neighbour's rectangle, in relax, laplacian and jacobian (2-D layout) or in
 * copy_edges alone (contiguous layout). A point of one colour depends on points of the other one only. */
#include "kernel.h"

enum { BLACK = 0, RED = 1, BOTH = 2, SWEEPS = 8 };

/* A worker's rectangle of a field: point (i, j), 0-based, is at[i * stride + j]; -1 and `rows` are the rim. */
struct part {
    double *at;
    long stride;
};

struct field {
    struct part *parts;
};

static struct kernel_options options;
static long grid_rows, grid_columns;
static struct field stream, vorticity, forcing;
static pthread_barrier_t barrier;

static long row_begin(long worker) {
    return kernel_share(options.size, worker / grid_columns, grid_rows);
}
static long row_end(long worker) {
    return kernel_share(options.size, worker / grid_columns + 1, grid_rows);
}
static long column_begin(long worker) {
    return kernel_share(options.size, worker % grid_columns, grid_columns);
}
static long column_end(long worker) {
    return kernel_share(options.size, worker % grid_columns + 1, grid_columns);
}

static struct field make_field(void) {
    struct field field = {kernel_alloc((size_t)options.threads, sizeof(struct part))};
#ifndef CONTIGUOUS
    long stride = options.size + 2;
    double *whole = kernel_alloc((size_t)(stride * stride), sizeof *whole);
#endif
    for (long w = 0; w < options.threads; w++) {
#ifdef CONTIGUOUS
        long stride = column_end(w) - column_begin(w) + 2;
        double *own = kernel_alloc((size_t)(stride * (row_end(w) - row_begin(w) + 2)), sizeof *own);
        field.parts[w] = (struct part){own + stride + 1, stride};
#else
        field.parts[w] = (struct part){whole + (row_begin(w) + 1) * stride + column_begin(w) + 1, stride};
#endif
    }
    return field;
}

#ifdef CONTIGUOUS
/* Fetches one edge of `count` points: those whose column (or row) has the parity of `first`, or all. */
static void fetch(double *to, long to_step, const double *from, long from_step, long count, long first, int colour) {
    long step = colour == BOTH ? 1 : 2;
    for (long k = colour == BOTH ? 0 : first; k < count; k += step)
        to[k * to_step] = from[k * from_step];
}

/* Copies the neighbours' edge points of a colour into the rim of this worker's rectangle. */
static void copy_edges(struct field field, long id, int colour) {
    struct part own = field.parts[id];
    long rows = row_end(id) - row_begin(id), columns = column_end(id) - column_begin(id);
    long parity = row_begin(id) + column_begin(id) + colour;
    if (row_begin(id) > 0) {
        long n = id - grid_columns, last = row_end(n) - row_begin(n) - 1;
        fetch(own.at - own.stride, 1, field.parts[n].at + last * field.parts[n].stride, 1, columns, (parity + 1) & 1, colour);
    }
    if (row_end(id) < options.size) {
        long n = id + grid_columns;
        fetch(own.at + rows * own.stride, 1, field.parts[n].at, 1, columns, (parity + rows) & 1, colour);
    }
    if (column_begin(id) > 0) {
        struct part west = field.parts[id - 1];
        long last = column_end(id - 1) - column_begin(id - 1) - 1;
        fetch(own.at - 1, own.stride, west.at + last, west.stride, rows, (parity + 1) & 1, colour);
    }
    if (column_end(id) < options.size) {
        struct part east = field.parts[id + 1];
        fetch(own.at + columns, own.stride, east.at, east.stride, rows, (parity + columns) & 1, colour);
    }
}
#else
static void copy_edges(struct field field, long id, int colour) {
    (void)field, (void)id, (void)colour;
}
#endif

static void laplacian(struct part out, struct part in, long rows, long columns) {
    for (long i = 0; i < rows; i++) {
        const double *p = in.at + i * in.stride;
        for (long j = 0; j < columns; j++)
            out.at[i * out.stride + j] = p[j - in.stride] + p[j + in.stride] + p[j - 1] + p[j + 1] - 4 * p[j];
    }
}

/* The advection of `q` by the stream function `p`, and a wind: the right side of the next solve. */
static void jacobian(struct part out, struct part p, struct part q, long rows, long columns, long first_row) {
    for (long i = 0; i < rows; i++) {
        const double *a = p.at + i * p.stride, *b = q.at + i * q.stride;
        double wind = 1e-3 * (double)(first_row + i - options.size / 2);
        for (long j = 0; j < columns; j++)
            out.at[i * out.stride + j] = b[j] + wind +
                                         0.01 * ((a[j + 1] - a[j - 1]) * (b[j + q.stride] - b[j - q.stride]) -
                                                 (a[j + p.stride] - a[j - p.stride]) * (b[j + 1] - b[j - 1]));
    }
}

static void relax(struct part u, struct part right, long rows, long columns, long parity) {
    for (long i = 0; i < rows; i++) {
        double *p = u.at + i * u.stride;
        const double *f = right.at + i * right.stride;
        for (long j = (parity + i) & 1; j < columns; j += 2) {
            double residual = p[j - u.stride] + p[j + u.stride] + p[j - 1] + p[j + 1] - 4 * p[j] - f[j];
            p[j] += 1.15 * 0.25 * residual;
        }
    }
}

static void *work(void *argument) {
    long id = (intptr_t)argument, rows = row_end(id) - row_begin(id), columns = column_end(id) - column_begin(id);
    long corner = row_begin(id) + column_begin(id);
    struct part u = stream.parts[id], q = vorticity.parts[id], f = forcing.parts[id];
    for (long step = 0; step < options.steps; step++) {
        laplacian(q, u, rows, columns);
        pthread_barrier_wait(&barrier);
        copy_edges(vorticity, id, BOTH);
        jacobian(f, u, q, rows, columns, row_begin(id));
        pthread_barrier_wait(&barrier);
        for (long sweep = 0; sweep < SWEEPS; sweep++)
            for (int colour = BLACK; colour <= RED; colour++) {
                relax(u, f, rows, columns, corner + colour);
                pthread_barrier_wait(&barrier);
                copy_edges(stream, id, colour);
            }
    }
    return NULL;
}

int main(int argc, char **argv) {
    options = kernel_parse(argc, argv, (struct kernel_options){2, 1024, 60, 1});
    kernel_worker_grid(options.threads, &grid_rows, &grid_columns);
    if (options.size < grid_columns)
        kernel_fail("the size must be at least the number of threads");
    stream = make_field(), vorticity = make_field(), forcing = make_field();
    pthread_barrier_init(&barrier, NULL, (unsigned)options.threads);
    kernel_team(options.threads, work);
    uint64_t checksum = 0;
    for (long i = 0; i < options.size; i++)
        for (long w = 0; w < options.threads; w++)
            if (row_begin(w) <= i && i < row_end(w))
                for (long j = 0; j < column_end(w) - column_begin(w); j++)
                    checksum = kernel_mix_double(checksum, stream.parts[w].at[(i - row_begin(w)) * stream.parts[w].stride + j]);
    kernel_print(checksum);
    return 0;
}
