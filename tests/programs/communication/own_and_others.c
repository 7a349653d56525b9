// A row of elements that the reader wrote itself, and others that two threads wrote, in no order: read again and again, by
// loops that know how long they are and by such that do not; and once more in a pause, in which nothing counts.
// LEVELS: O0, O1, O2, O3
// THREADS: 4
// LET: N = 3000
// LET: A = 978
// LET: B = 999
// LET: C = 242
// LET: D = 242
// EXPECT: raw lines first -> sum = A
// EXPECT: rar lines first -> sum = 19 * A
// EXPECT: raw lines second -> sum = B
// EXPECT: rar lines second -> sum = 19 * B
// EXPECT: rar lines first -> search = 20 * A
// EXPECT: rar lines second -> search = 20 * B
// EXPECT: rar lines first -> pair = 20 * (2 * A - 1)
// EXPECT: rar lines second -> pair = 20 * (2 * B - 1)
// EXPECT: raw lines letter1 -> letter = C
// EXPECT: rar lines letter1 -> letter = 20 * 4 * C - C
// EXPECT: raw lines letter2 -> letter = D
// EXPECT: rar lines letter2 -> letter = 20 * 4 * D - D
// EXPECT: raw lines text -> word = N / 4
// EXPECT: rar lines text -> word = 20 * N - N / 4
#include "team.h"
#include "threadtalk.h"

enum { N = 3000, ROUNDS = 20 };

static int values[N];
static unsigned char letters[N], text[N];

static int writer_of(unsigned i) { return (int)(((i + 1) * 2654435761u >> 16) % 3); }

static void *write_first(void *argument) {
    for (int i = 0; i < N; i++)
        if (writer_of((unsigned)i) == 0)
            values[i] = i; /*@first*/
    for (int i = 0; i < N; i++)
        if (writer_of((unsigned)i / 4) == 0)
            letters[i] = 'a'; /*@letter1*/
    for (int i = 0; i < N; i++)
        text[i] = 'a'; /*@text*/
    return argument;
}

static void *write_second(void *argument) {
    for (int i = 0; i < N; i++)
        if (writer_of((unsigned)i) == 1)
            values[i] = i; /*@second*/
    for (int i = 0; i < N; i++)
        if (writer_of((unsigned)i / 4) == 1)
            letters[i] = 'a'; /*@letter2*/
    return argument;
}

NOINLINE long sum(const int *all, int n) {
    long z = 0;
    for (int i = 0; i < n; i++)
        z += all[i]; /*@sum*/
    return z;
}

NOINLINE long search(const int *all, int n) {
    for (int i = 0; i < n; i++)
        if (all[i] == -1) /*@search*/
            return i;
    return n;
}

NOINLINE long pair(const int *all, int n) {
    for (int i = 0; i < n; i++)
        if (all[i] == all[i + 1] + 7) /*@pair*/
            return i;
    return n;
}

NOINLINE long letter(const unsigned char *all, int n) {
    for (int i = 0; i < n; i++)
        if (all[i] == '.') /*@letter*/
            return i;
    return n;
}

NOINLINE long word(const unsigned char *all, int n) {
    for (int i = 0; i < n; i++)
        if (all[i] == '.') /*@word*/
            return i;
    return n;
}

static void *read(void *argument) {
    for (int i = 0; i < N; i++)
        if (writer_of((unsigned)i) == 2)
            values[i] = i;
    for (int i = 0; i < N; i++)
        if (writer_of((unsigned)i / 4) == 2)
            letters[i] = 'a';
    for (int round = 0; round < ROUNDS; round++) {
        USE(sum(values, N));
        USE(search(values, N));
        USE(pair(values, N - 1));
        USE(letter(letters, N));
        for (int part = 0; part < N; part += 300)
            USE(word(text + part, 300));
    }
    threadtalk_stop();
    USE(search(values, N));
    USE(pair(values, N - 1));
    USE(letter(letters, N));
    threadtalk_start();
    return argument;
}

int main(void) {
    one(write_first, NULL);
    one(write_second, NULL);
    one(read, NULL);
    return 0;
}
