// Vectors of 32 bytes that begin 8 bytes behind a multiple of 32, as they may in an array that is aligned as malloc does it: every other one lies
// in two blocks of 64 bytes. Those of one array have one state, those of the other were written at two lines, block by block. Read twice, in an
// order that no loop over a row has; and twice by a thread that has read the odd blocks before.
// THREADS: 4
// LET: N = 3000
// EXPECT: raw lines all -> whole = 8 * N
// EXPECT: rar lines all -> whole = 8 * N
// EXPECT: raw lines even -> vector = 4 * N
// EXPECT: raw lines odd -> vector = 4 * N
// EXPECT: rar lines even -> vector = 4 * N
// EXPECT: rar lines odd -> vector = 4 * N
// EXPECT: raw lines odd -> before = 4 * N
// EXPECT: raw lines even -> mixed = 4 * N
// EXPECT: rar lines even -> mixed = 4 * N
// EXPECT: rar lines odd -> mixed = 8 * N
#include "team.h"

enum { N = 3000, SIZE = 4 * N + 8 };
typedef double Vector __attribute__((vector_size(32), aligned(8)));
static double alike[SIZE] __attribute__((aligned(64))), numbers[SIZE] __attribute__((aligned(64)));
static volatile double result;

static void *write(void *unused) {
    for (int i = 0; i < SIZE; i++)
        alike[i] = i; /*@all*/
    for (int block = 0; block < SIZE; block += 16)
        for (int i = block; i < block + 8; i++)
            numbers[i] = i; /*@even*/
    for (int block = 8; block < 4 * N; block += 16)
        for (int i = block; i < block + 8; i++)
            numbers[i] = -i; /*@odd*/
    return unused;
}

#define AT(array, i) (*(const volatile Vector *)&array[i * 7 % N * 4 + 1])[i % 4]

static void *read(void *unused) {
    for (int i = 0; i < 2 * N; i++)
        result = AT(alike, i); /*@whole*/
    for (int i = 0; i < 2 * N; i++)
        result = AT(numbers, i); /*@vector*/
    return unused;
}

static void *read_again(void *unused) {
    for (int i = 0; i < SIZE; i++)
        if (i / 8 % 2 == 1)
            USE(numbers[i]); /*@before*/
    for (int i = 0; i < 2 * N; i++)
        result = AT(numbers, i); /*@mixed*/
    return unused;
}

int main(void) {
    one(write, NULL);
    one(read, NULL);
    one(read_again, NULL);
    return 0;
}
