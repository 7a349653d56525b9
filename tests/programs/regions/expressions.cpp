// Operators and members of a line or two belong, where they were inlined, to the line and the loop that use them; lambdas and
// longer functions keep their own, and so does what a library's loop calls.
// THREADS: 2
// LEVELS: O2, O3
// LET: N = 3000
// EXPECT: raw lines written -> sum = 3 * N
// EXPECT: raw in own loop total@loop = 3 * N if w == 0 && r == 1
// EXPECT: raw in longer = 3 * N if w == 0 && r == 1
// EXPECT: raw lines written -> order >= 3 * N
// EXPECT: raw sum >= 9 * N
#include "team.h"
#include <algorithm>

enum { N = 3000 };

struct Vector {
    float x, y, z;
    Vector operator+(const Vector &o) const { return {x + o.x, y + o.y, z + o.z}; }
    float squared() const {
        return x * x + y * y + z * z;
    }
    bool operator<(const Vector &o) const { return squared() < o.squared(); } /*@order*/
};

struct Table {
    Vector *rows;
    const Vector &at(int i) const { return rows[i]; }
};

static Vector first[N], second[N], third[N];

static NOINLINE void total(Table table, Vector *result) {
    Vector sum{0, 0, 0};
    for (int i = 0; i < N; i++)      /*@loop*/
        sum = sum + table.at(i);     /*@sum*/
    *result = sum;
}

static float longer(const Vector &of) {
    float most = of.x;
    most = of.y > most ? of.y : most;
    most = of.z > most ? of.z : most;
    return most;
}

static void *work(void *) {
    Vector sum;
    total(Table{first}, &sum);
    float most = 0;
    for (const Vector &of : second)
        most += longer(of);
    USE(most);
    USE(std::is_sorted(third, third + N));
    return nullptr;
}

int main() {
    for (int i = 0; i < N; i++)
        first[i] = second[i] = third[i] = Vector{float(i), 1, 2}; /*@written*/
    one(work, nullptr);
    return 0;
}
