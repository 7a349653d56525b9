/* Alignment of two sequences by dynamic programming (OpenMP), the row "Needleman-Wunsch" of the paper's Table 2.
 *
 * What communicates: a cell reads its neighbours to the west, north and north-west, which lie on the two anti-diagonals
 * before. Default: rows are dealt out one by one, so that the row above always belongs to another thread and is read
 * twice, an anti-diagonal apart. BLOCKED: tiles along anti-diagonals of tiles, in chunks of 32 rows; a tile's cells are
 * its thread's own, and only its rims come from others. */
#include "../kernel.h"
#include <omp.h>

static const int PENALTY = 10;

static inline int best_of(int diagonal, int left, int above) {
    int best = diagonal;
    if (left > best)
        best = left;
    return above > best ? above : best;
}

static inline void align_cell(int *score, const int *similarity, long stride, long i, long j) {
    long at = i * stride + j;
    score[at] = best_of(score[at - stride - 1] + similarity[at], score[at - 1] - PENALTY, score[at - stride] - PENALTY);
}

static void align(int *score, const int *similarity, long n, long tile) {
    long stride = n + 1;
#ifdef BLOCKED
    long tiles = (n + tile - 1) / tile;
    for (long diagonal = 0; diagonal < 2 * tiles - 1; diagonal++) {
        long first = diagonal < tiles ? 0 : diagonal - tiles + 1, last = diagonal < tiles ? diagonal : tiles - 1;
        /* A thread keeps the rows of tiles that it had on the diagonal before. */
#pragma omp parallel
        for (long row = first; row <= last; row++) {
            if (row % omp_get_num_threads() != omp_get_thread_num())
                continue;
            long top = row * tile + 1, left = (diagonal - row) * tile + 1;
            for (long i = top; i < top + tile && i <= n; i++)
                for (long j = left; j < left + tile && j <= n; j++)
                    align_cell(score, similarity, stride, i, j);
        }
    }
#else
    (void)tile;
    for (long diagonal = 0; diagonal < 2 * n - 1; diagonal++) {
        long first = diagonal < n ? 1 : diagonal - n + 2, last = diagonal < n ? diagonal + 1 : n;
#pragma omp parallel for schedule(static, 1)
        for (long i = first; i <= last; i++)
            align_cell(score, similarity, stride, i, diagonal + 2 - i);
    }
#endif
}

int main(int argc, char **argv) {
    struct kernel_options options = kernel_parse(argc, argv, (struct kernel_options){2, 2048, 1, 32});
    long n = options.size, stride = n + 1;
    size_t cells = (size_t)(stride * stride);
    int *score = kernel_alloc(cells, sizeof *score), *similarity = kernel_alloc(cells, sizeof *similarity);
    omp_set_num_threads((int)options.threads);
    uint64_t checksum = 0;
    for (long step = 0; step < options.steps; step++) {
        for (size_t i = 0; i < cells; i++)
            similarity[i] = (int)(kernel_noise(i + (size_t)step * cells) * 20) - 8;
        for (long i = 0; i <= n; i++)
            score[i] = score[i * stride] = (int)-i * PENALTY;
        align(score, similarity, n, options.block);
        for (size_t i = 0; i < cells; i += 7)
            checksum = kernel_mix(checksum, (uint64_t)(uint32_t)score[i]);
        checksum = kernel_mix(checksum, (uint64_t)(uint32_t)score[cells - 1]);
    }
    kernel_print(checksum);
    return 0;
}
