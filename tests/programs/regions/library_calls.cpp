// Functions of the C++ library that are not inlined do what the line means that calls them: `std::sort`'s steps read what is
// sorted where it is sorted, `std::map`'s nodes are written where they are put in and allocated there.
// THREADS: 2
// LEVELS: O1, O2, O3
// LET: N = 3000
// EXPECT: raw lines written -> sort = N
// EXPECT: raw lines put -> get = 2 * N
// EXPECT: raw object heap block@put = 2 * N
// OPTIONS: objects=1
#include "team.h"
#include <algorithm>
#include <map>

enum { N = 3000 };
static int keys[N];
static std::map<int, int> tree;

static void *work(void *unused) {
    std::sort(keys, keys + N);         /*@sort*/
    long sum = 0;
    for (const auto &node : tree)
        sum += node.first + node.second; /*@get*/
    USE(sum);
    return unused;
}

int main() {
    for (int i = 0; i < N; i++)
        keys[i] = i * 7919 % N;        /*@written*/
    for (int i = 0; i < N; i++)
        tree.emplace(keys[i], i);      /*@put*/
    one(work, nullptr);
    return 0;
}
