// The standard library's containers, filled by one thread and read by another.
#include "rounds.h"
#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#if defined(VECTOR)
static std::vector<double> held[MOST_THREADS];
static void fill(int me, long round) {
    held[me].clear();
    for (long i = 0; i < n; i++) held[me].push_back(double(i + round));
}
static double use(int me) {
    double sum = 0;
    for (double value : held[next(me)]) sum += value;
    return sum;
}
#elif defined(NESTED)
static std::vector<std::vector<double>> held[MOST_THREADS];
static void fill(int me, long round) {
    held[me].resize(n / 8);
    for (auto &row : held[me]) row.assign(8, double(round));
}
static double use(int me) {
    double sum = 0;
    const auto &rows = held[next(me)];
    for (std::size_t i = 0; i < rows.size(); i++)
        for (std::size_t j = 0; j < rows[i].size(); j++) sum += rows[i][j];
    return sum;
}
#elif defined(MAP)
static std::map<unsigned, double> held[MOST_THREADS];
static void fill(int me, long round) { for (long i = 0; i < n; i++) held[me][scattered(i)] = double(round); }
static double use(int me) {
    double sum = 0;
    for (long i = 0; i < n; i++) sum += held[next(me)].find(scattered(n - 1 - i))->second;
    return sum;
}
#elif defined(UNORDERED)
static std::unordered_map<unsigned, double> held[MOST_THREADS];
static void fill(int me, long round) { for (long i = 0; i < n; i++) held[me][scattered(i)] = double(round); }
static double use(int me) {
    double sum = 0;
    for (long i = 0; i < n; i++) sum += held[next(me)].find(scattered(n - 1 - i))->second;
    return sum;
}
#elif defined(STRINGS)
static std::vector<std::string> held[MOST_THREADS];
static void fill(int me, long round) {
    held[me].clear();
    for (long i = 0; i < n; i++) {
        std::string text = "key ";
        for (long k = i + round; k > 0; k /= 10) text += char('0' + k % 10);
        held[me].push_back(text);
    }
}
static double use(int me) {
    const auto &texts = held[next(me)];
    return double(std::count_if(texts.begin(), texts.end(), [&](const std::string &text) { return text < texts[0]; }));
}
#elif defined(VIRTUAL)
struct Shape { virtual ~Shape() = default; virtual double area() const = 0; double size = 1; };
struct Square final : Shape { double area() const override { return size * size; } };
struct Circle final : Shape { double area() const override { return 3 * size * size; } };
static std::vector<std::unique_ptr<Shape>> held[MOST_THREADS];
static void fill(int me, long round) {
    while (long(held[me].size()) < n) {
        if (held[me].size() % 3) held[me].push_back(std::make_unique<Square>());
        else held[me].push_back(std::make_unique<Circle>());
    }
    for (auto &shape : held[me]) shape->size = double(round % 9);
}
static double use(int me) {
    double sum = 0;
    for (const auto &shape : held[next(me)]) sum += shape->area();
    return sum;
}
#elif defined(SORT)
static std::vector<unsigned> held[MOST_THREADS];
static void fill(int me, long round) {
    held[me].resize(n);
    for (long i = 0; i < n; i++) held[me][i] = scattered(unsigned(i + round));
}
static double use(int me) {
    std::sort(held[next(me)].begin(), held[next(me)].end());
    return held[next(me)][n / 2];
}
#endif

static void prepare() {}
