// A pointer is read again for each structure that is copied, as the copy might change it, for all that the compiler knows: in each iteration the
// pointer is reuse, and what it leads to is true communication the first time. Such loops are counted before they run.
// THREADS: 2
// LET: N = 3000
// LET: TIMES = 4
// EXPECT: raw lines values -> copy = 4 * N
// EXPECT: rar lines values -> copy = 4 * (TIMES - 1) * N
// EXPECT: raw lines pointer -> copy = 2
// EXPECT: rar lines pointer -> copy = 2 * TIMES * N - 2
#include "team.h"

enum { N = 3000, TIMES = 4 };
struct number {
    double re, im;
};
static struct number values[N], copies[N], *shared;
static struct number *volatile to = copies, **volatile from = &shared;

static NOINLINE void copy(struct number *to, struct number **from) {
    for (int i = 0; i < N; i++)
        to[i] = (*from)[i]; /*@copy*/
}

static void *work(void *me) {
    for (int time = 0; time < TIMES; time++)
        copy(to, from);
    return me;
}

int main(void) {
    for (int i = 0; i < N; i++)
        values[i] = (struct number){i, 1}; /*@values*/
    shared = values;                       /*@pointer*/
    team(1, work);
    return copies[3].re == 0.5;
}
