// Objects with virtual functions are called as what leads to them, not as the place in them that says where their functions
// are, which no line names. A block that LLVM makes a variable keeps the name of the pointer to it.
// THREADS: 3
// LEVELS: O1, O2
// LET: N = 3000
// LET: FEW = 8
// EXPECT: raw object heap shape = 3 * N
// EXPECT: raw object heap shape->size = N
// EXPECT: raw object heap shape->_vptr$Shape = 0
// EXPECT: raw object global counts = FEW
// EXPECT: raw object global counts.body = 0
// OPTIONS: objects=1
#include "team.h"

enum { N = 3000, FEW = 8 };

struct Shape {
    virtual int area() const { return 1; }
    virtual ~Shape() = default;
    int size = 0;
};

struct Square : Shape {
    int area() const override { return 4; }
};

static Shape **shapes;
static volatile int *counts;

static void *make(void *unused) {
    shapes = new Shape *[N];
    for (int i = 0; i < N; i++) {
        shapes[i] = new Square;
        shapes[i]->size = 3;
    }
    for (int i = 0; i < FEW; i++)
        counts[i] = i;
    return unused;
}

static NOINLINE int ask(const Shape *shape) { return shape->area() * shape->size; }

static void *read(void *unused) {
    for (int i = 0; i < N; i++)
        USE(ask(shapes[i]));
    for (int i = 0; i < FEW; i++)
        USE(counts[i]);
    return unused;
}

int main() {
    counts = static_cast<int *>(malloc(FEW * sizeof(int)));
    one(make, nullptr);
    one(read, nullptr);
    return 0;
}
