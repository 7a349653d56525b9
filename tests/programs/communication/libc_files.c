// read, write, fread and fwrite access the caller's buffers: worker 2 passes on through a pipe and a file what worker 1 wrote.
// LEVELS: O0, O2, O3, O2 -D_FORTIFY_SOURCE=2
// THREADS: 4
// LET: N = 256
// EXPECT: raw in relay = 2 * N if w == 1 && r == 2
// EXPECT: raw in consume = 2 * N if w == 2 && r == 3
// EXPECT: rar in relay = 0
// EXPECT: rar in consume = 0
#include "team.h"
#include <unistd.h>

enum { N = 256 };
static int sent[N], streamed[N], received[N], loaded[N];

static void *produce(void *unused) {
    for (int i = 0; i < N; i++) {
        ((volatile int *)sent)[i] = i;
        ((volatile int *)streamed)[i] = i;
    }
    return unused;
}

NOINLINE int relay(int in, int out, FILE *file) {
    int whole = write(in, sent, sizeof sent) == sizeof sent;
    whole &= read(out, received, sizeof received) == sizeof received;
    whole &= fwrite(streamed, sizeof(int), N, file) == N;
    rewind(file);
    whole &= fread(loaded, sizeof(int), N, file) == N;
    FENCE();
    return whole;
}

static void *relaying(void *unused) {
    int ends[2];
    FILE *file = tmpfile();
    if (file == NULL || pipe(ends) != 0 || !relay(ends[1], ends[0], file))
        abort();
    fclose(file);
    return unused;
}

NOINLINE void consume(void) {
    for (int i = 0; i < N; i++) {
        USE(((volatile int *)received)[i]);
        USE(((volatile int *)loaded)[i]);
    }
}

static void *consuming(void *unused) {
    consume();
    return unused;
}

int main(void) {
    one(produce, NULL);
    one(relaying, NULL);
    one(consuming, NULL);
    return 0;
}
