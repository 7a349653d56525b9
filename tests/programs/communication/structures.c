// Structures of 3 to 18 words, copied as a whole, or moved by one word inside themselves: what is read was written by
// several threads, and what is moved is read before it is overwritten.
// THREADS: 5
// LET: SIZES = 15
// LET: WORDS = 150
// LET: ROUNDS = 5
// EXPECT: raw = WORDS if w == 1 && r == 2; SIZES if w == 1 && r == 3; WORDS if w == 2 && r == 3; WORDS + SIZES if w == 3 && r == 4
// EXPECT: rar = SIZES * (ROUNDS - 1) if w == 1 && r == 3; WORDS * (ROUNDS - 1) if w == 2 && r == 3; WORDS + SIZES if w == 3 && r == 4
// EXPECT: raw lines filled -> moved = WORDS
// LEVELS: O0, O1, O2, O3 -mavx2, O3 -march=native
#include "team.h"
#include <string.h>

enum { ROUNDS = 5 };

#define ALL(DO) DO(3) DO(4) DO(5) DO(6) DO(7) DO(8) DO(9) DO(10) DO(11) DO(12) DO(13) DO(14) DO(15) DO(16) DO(17)
#define DECLARE(n) struct words##n { int word[(n) + 1]; } given##n, taken##n, last##n;
ALL(DECLARE)

static void *fill(void *unused) {
#define FILL(n) for (int i = 0; i <= (n); i++) given##n.word[i] = i; FENCE();
    ALL(FILL) /*@filled*/
    return unused;
}

static void *move(void *unused) {
#define MOVE(n) memmove(given##n.word + 1, given##n.word, (n) * sizeof(int)); FENCE();
    ALL(MOVE) /*@moved*/
    return unused;
}

static void *take(void *unused) {
#define TAKE(n) taken##n = given##n; FENCE();
    for (int round = 0; round < ROUNDS; round++) {
        ALL(TAKE)
    }
    return unused;
}

static void *look(void *unused) {
#define LOOK(n) last##n = taken##n; FENCE(); last##n = taken##n; FENCE();
    ALL(LOOK)
    return unused;
}

int main(void) {
    one(fill, NULL);
    one(move, NULL);
    one(take, NULL);
    one(look, NULL);
    return 0;
}
