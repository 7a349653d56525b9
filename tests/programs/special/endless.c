// Worker 2 reads what worker 1 wrote, for ever; prints a line after the first thousand sweeps.
#include "handover.h"

static void *take_for_ever(void *unused) {
    for (long sweep = 0;; sweep++) {
        take(NULL);
        if (sweep == 1000) {
            puts("reading");
            fflush(stdout);
        }
    }
    return unused;
}

int main(void) {
    one(give, NULL);
    one(take_for_ever, NULL);
    return 0;
}
