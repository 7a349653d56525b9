// Straight code reads an element again, and writes one again, while another pointer may write the same. A value of another thread is counted each
// time, an own one never, whichever came first; who reads what was written several times gets it from the last line that wrote it.
// THREADS: 2
// LET: N = 300
// EXPECT: raw = 10 * N if w == 0 && r == 1; 3 * N if w == 1 && r == 0
// EXPECT: rar = 20 * N if w == 0 && r == 1; 0
// EXPECT: raw lines early -> sum = 0
// EXPECT: raw lines late -> sum = N
// EXPECT: raw lines between -> sum = 0
// EXPECT: raw lines last -> sum = N
// EXPECT: raw lines before -> sum = 0
// EXPECT: raw lines other -> sum = N
#include "team.h"

enum { N = 300 };
static volatile int32_t given[N], taken[N], result[N], first[N], second[N];
// Eight cells, at no better address than that of a double.
typedef double four __attribute__((vector_size(32), aligned(8)));
static volatile four fours[N], sums[N];

// Three reads of p, unless what is behind q is the same: then one, and two of its own.
static NOINLINE void straight(volatile int32_t *p, volatile int32_t *q) {
    int32_t s = p[0];
    q[0] = s + 1; /*@early*/
    s += p[0];
    s += p[0] * 3;
    q[0] = s; /*@late*/
}

static NOINLINE void mixed(volatile int32_t *p, volatile int32_t *q) {
    p[0] = 1;
    q[0] = 2; /*@between*/
    p[0] = 3;
    p[0] = 4; /*@last*/
}

static NOINLINE void overtaken(volatile int32_t *p, volatile int32_t *q) {
    p[0] = 5;
    p[0] = 6; /*@before*/
    q[0] = 7; /*@other*/
}

static NOINLINE void wide(volatile four *p, volatile four *q) {
    four s = *p;
    *q = s;
    s += *p;
    s += *p;
    *q = s;
}

static void *worker(void *argument) {
    for (int i = 0; i < N; i++) {
        straight(&given[i], &result[i]);
        straight(&taken[i], &taken[i]);
        straight(&taken[i], &taken[i]);
        // Another read of what is not own, between own ones.
        straight(&result[i], &result[i]);
        USE(given[i] + result[i] + given[i]);
        wide(&fours[i], &sums[i]);
        wide(&sums[i], &sums[i]);
        mixed(&first[i], &first[i]);
        overtaken(&second[i], &second[i]);
    }
    return argument;
}

int main(void) {
    for (int i = 0; i < N; i++) {
        given[i] = i;
        taken[i] = -i;
        fours[i] = (four){i, 1, 2, 3};
    }
    team(1, worker);
    int64_t sum = 0;
    for (int i = 0; i < N; i++)
        sum += (int64_t)result[i] + first[i] + second[i]; /*@sum*/
    USE(sum);
    return 0;
}
