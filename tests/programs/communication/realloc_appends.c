// A buffer that grows where it is appended to. Of its function nothing is inlined but the store that says where realloc is called,
// which was once not enough to compile it.
// THREADS: 3
// EXPECT: raw = 6 if w == 1 && r == 2
// EXPECT: rar = 0 if r == 2
#include "team.h"
#include <string.h>

struct buffer {
    void *data;
    unsigned used, room;
};

static struct buffer buffer;

static int append(struct buffer *b, const void *data, unsigned size) {
    unsigned needed = b->used + size;
    if (needed > b->room) {
        unsigned room = b->room ? b->room << 1 : 16;
        while (needed > room)
            room <<= 1;
        void *grown = realloc(b->data, room);
        if (!grown)
            return -1;
        b->data = grown;
        b->room = room;
    }
    memcpy((unsigned char *)b->data + b->used, data, size);
    b->used = needed;
    return 0;
}

NOINLINE int put(struct buffer *b) {
    static const char bytes[8] = "abcdefg";
    if (append(b, bytes, 4) < 0)
        return -1;
    if (append(b, bytes, 4) < 0)
        return -1;
    return append(b, bytes, 8);
}

static void *fill(void *unused) {
    (void)unused;
    if (put(&buffer) < 0)
        abort();
    return NULL;
}

// The pointer's two granules, and four of what it leads to.
static void *take(void *unused) {
    (void)unused;
    char own[16];
    memcpy(own, buffer.data, sizeof own);
    USE(own);
    return NULL;
}

int main(void) {
    one(fill, NULL);
    one(take, NULL);
    return 0;
}
