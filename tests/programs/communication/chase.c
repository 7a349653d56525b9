// A loop whose scattered writes hit what it is about to read: of the array that worker 1 wrote, worker 2 reads the first element as
// it was, and all others after its own write. The places, which are of another type, are read from end to end.
// THREADS: 3
// LET: N = 3000
// LEVELS: O0, O2, O3, O3 -mavx2
// EXPECT: raw lines values -> chased = 1
// EXPECT: rar lines values -> chased = 0
// EXPECT: raw lines places -> chased = 2 * N
// EXPECT: raw = 2 * N + 1 if w == 1 && r == 2
#include "team.h"

enum { LENGTH = 3000 };
static int values[LENGTH + 1];
static long places[LENGTH];

static void *prepare(void *unused) {
    for (long i = 0; i <= LENGTH; i++)
        values[i] = 1; /*@values*/
    FENCE();
    for (long i = 0; i < LENGTH; i++)
        places[i] = i + 1; /*@places*/
    return unused;
}

static NOINLINE void chase(int *value, const long *place, long length) {
    for (long i = 0; i < length; i++)
        value[place[i]] = value[i] + 2; /*@chased*/
}

static void *run(void *unused) {
    chase(values, places, LENGTH);
    return unused;
}

int main(void) {
    one(prepare, NULL);
    one(run, NULL);
    return 0;
}
