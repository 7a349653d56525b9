// Loops that end by what they find: each element that they come to is read or written and those behind it are not,
// whichever way they leave, after however many rounds.
// LEVELS: O0, O1, O2, O3, Os
// THREADS: 4
// EXPECT: raw lines values -> found = 3000
// EXPECT: rar lines values -> found = 1 + 63 + 64 + 65 + 66 + 128 + 129 + 2001
// EXPECT: raw lines text -> word = 1000 / 4
// EXPECT: rar lines text -> word = 3 * 1000 / 4
// EXPECT: raw lines text -> sign = 0
// EXPECT: rar lines text -> sign = 400 + 701
// EXPECT: raw lines longs -> first = 2 * 501
// EXPECT: rar lines longs -> first = 2 * 301
// EXPECT: raw lines longs -> second = 2 * 500
// EXPECT: rar lines longs -> second = 2 * 301
// EXPECT: rar lines text -> copied = 1000
// EXPECT: raw lines copied -> checked = 1000 / 4
// EXPECT: rar lines copied -> checked = 3 * 1000 / 4
// EXPECT: raw lines rows -> row = 40 * 90
// EXPECT: rar lines rows -> row = 40 * 90
#include "team.h"

enum { N = 3000, TEXT = 1000, ROWS = 40, COLUMNS = 100 };

static int values[N], rows[ROWS][COLUMNS];
static unsigned char text[TEXT], word[TEXT];
static long x[N], y[N];

NOINLINE long search(const int *all, int n, int wanted) {
    for (int i = 0; i < n; i++)
        if (all[i] == wanted) /*@found*/
            return i;
    return -1;
}

NOINLINE long length(const unsigned char *from) {
    const unsigned char *at = from;
    while (*at != ' ') /*@word*/
        at++;
    return at - from;
}

NOINLINE long sign(const unsigned char *all, long n) {
    long sum = 0;
    for (long i = 0; i < n; i++)
        switch (all[i]) { /*@sign*/
        case '+':
        case '-':
        case '*':
            return i;
        case '!':
            return sum;
        default:
            sum ^= i;
        }
    return sum;
}

NOINLINE long meet(const long *one, const long *other, long n, long m) {
    long i = 0;
    for (;; i++) {
        if (one[i] == n) /*@first*/
            return i;
        if (other[i] == m) /*@second*/
            break;
    }
    return -i;
}

NOINLINE long copy(unsigned char *to, const unsigned char *from) {
    long i = 0;
    while ((to[i] = from[i]) != ' ') /*@copied*/
        i++;
    return i;
}

NOINLINE long find_in_rows(int wanted) {
    long sum = 0;
    for (int row = 0; row < ROWS; row++)
        for (int i = 0; i < COLUMNS; i++)
            if (rows[row][i] == wanted) { /*@row*/
                sum += i;
                break;
            }
    return sum;
}

static void *write(void *argument) {
    for (int i = 0; i < N; i++)
        values[i] = i; /*@values*/
    for (int i = 0; i < N; i++)
        x[i] = i, y[i] = i; /*@longs*/
    for (int i = 0; i < TEXT; i++)
        text[i] = i == TEXT - 1 ? ' ' : i == 700 ? '+' : 'a'; /*@text*/
    for (int row = 0; row < ROWS; row++)
        for (int i = 0; i < COLUMNS; i++)
            rows[row][i] = i; /*@rows*/
    return argument;
}

static void *read(void *argument) {
    static const int wanted[] = {-1, 0, 62, 63, 64, 65, 127, 128, 2000};
    for (unsigned i = 0; i < sizeof wanted / sizeof *wanted; i++)
        USE(search(values, N, wanted[i]));
    USE(length(text));
    USE(sign(text, 400));
    USE(sign(text, TEXT));
    USE(meet(x, y, 500, -1));
    USE(meet(x, y, -1, 300));
    USE(copy(word, text));
    USE(find_in_rows(89));
    USE(find_in_rows(89));
    return argument;
}

static void *check(void *argument) {
    long sum = 0;
    for (int i = 0; i < TEXT; i++)
        sum += word[i]; /*@checked*/
    USE(sum);
    return argument;
}

int main(void) {
    one(write, NULL);
    one(read, NULL);
    one(check, NULL);
    return 0;
}
