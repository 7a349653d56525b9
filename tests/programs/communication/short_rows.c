// Rows behind pointers, too short for a vector, so that what a vectorised loop leaves over reads all of them. Worker 1
// writes points and centres; workers 2 and 3 set each point against each centre: of a point's row every read but the
// first is reuse, and of the centres' rows all but those of the first point.
// THREADS: 4
// LET: POINTS = 40
// LET: CENTRES = 50
// LET: DIM = 3
// EXPECT: raw lines points -> difference = 2 * POINTS * DIM
// EXPECT: rar lines points -> difference = 2 * POINTS * DIM * (CENTRES - 1)
// EXPECT: raw lines centres -> difference = 2 * CENTRES * DIM
// EXPECT: rar lines centres -> difference = 2 * CENTRES * DIM * (POINTS - 1)
// LEVELS: O0, O2, O3, O3 -mavx2
#include "team.h"

enum { POINTS = 40, CENTRES = 50, DIM = 3 };
static int *points[POINTS], *centres[CENTRES];
static pthread_barrier_t written;

static NOINLINE void fill(int dim) {
    for (int i = 0; i < POINTS; i++)
        for (int j = 0; j < dim; j++)
            points[i][j] = i + j; /*@points*/
    for (int k = 0; k < CENTRES; k++)
        for (int j = 0; j < dim; j++)
            centres[k][j] = 2 * k - j; /*@centres*/
}

static NOINLINE int nearest(int dim) {
    int all = 0;
    for (int i = 0; i < POINTS; i++) {
        int least = 1 << 30;
        for (int k = 0; k < CENTRES; k++) {
            int sum = 0;
            for (int j = 0; j < dim; j++) {
                int apart = points[i][j] - centres[k][j]; /*@difference*/
                sum += apart * apart;
            }
            least = sum < least ? sum : least;
        }
        all += least;
    }
    return all;
}

static void *work(void *argument) {
    intptr_t worker = (intptr_t)argument;
    int dim = *(volatile int *)&(int){DIM};
    if (worker == 1)
        fill(dim);
    pthread_barrier_wait(&written);
    if (worker != 1) {
        int least = nearest(dim);
        USE(least);
    }
    return NULL;
}

int main(void) {
    for (int i = 0; i < POINTS; i++)
        points[i] = malloc(DIM * sizeof(int));
    for (int k = 0; k < CENTRES; k++)
        centres[k] = malloc(DIM * sizeof(int));
    pthread_barrier_init(&written, NULL, 3);
    team(3, work);
    return 0;
}
