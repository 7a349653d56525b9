// Built by gcc, run by LLVM's OpenMP: program MODE SIZE. What the pieces do is in gomp_piece.c, built by threadtalk-cc.
#include <omp.h>
#include <stdlib.h>
#include <string.h>

double piece(int i, int slow);

static double sinks[64 * 1024];

int main(int argc, char **argv)
{
    if (argc != 3)
        return 2;
    const char *mode = argv[1];
    int all = omp_get_max_threads() * atoi(argv[2]);
    int slow = strstr(mode, "_if") ? all / 3 : -1;
    if (!strncmp(mode, "static", 6)) {
#pragma omp parallel for schedule(static)
        for (int i = 0; i < all; i++)
            sinks[i] = piece(i, slow);
    } else if (!strncmp(mode, "dynamic", 7)) {
#pragma omp parallel for schedule(dynamic)
        for (int i = 0; i < all; i++)
            sinks[i] = piece(i, slow);
    } else if (!strncmp(mode, "guided", 6)) {
#pragma omp parallel for schedule(guided)
        for (int i = 0; i < all; i++)
            sinks[i] = piece(i, slow);
    } else if (!strncmp(mode, "tasks", 5)) {
#pragma omp parallel
#pragma omp single
        for (int i = 0; i < all; i++) {
#pragma omp task firstprivate(i)
            sinks[i] = piece(i, slow);
        }
    }
    return sinks[0] == 0.12345;
}
