/* k-means clustering of points with integer coordinates (C++, std::thread, std::mutex, std::barrier).
 *
 * What communicates: nearest reads the centres, which worker 0 recomputes after each round (one to all), and the
 * workers' sums meet in shared ones under a mutex (all to all). The assignment of a point is a byte of its own. */
#include "kernel.h"
#include <array>
#include <barrier>
#include <mutex>
#include <thread>
#include <vector>

constexpr int DIMENSIONS = 8;
using Point = std::array<int32_t, DIMENSIONS>;

struct Cluster {
    std::array<int64_t, DIMENSIONS> sum{};
    int64_t count = 0;
};

struct Clustering {
    std::vector<Point> points, centres;
    std::vector<uint8_t> assignment;
    std::vector<Cluster> clusters;
    std::mutex mutex;

    uint8_t nearest(const Point &point) const {
        int64_t best = INT64_MAX;
        std::size_t which = 0;
        for (std::size_t c = 0; c < centres.size(); c++) {
            int64_t square = 0;
            for (int d = 0; d < DIMENSIONS; d++) {
                const int64_t delta = point[d] - centres[c][d];
                square += delta * delta;
            }
            if (square < best) {
                best = square;
                which = c;
            }
        }
        return static_cast<uint8_t>(which);
    }

    void assign(std::size_t begin, std::size_t end) {
        std::vector<Cluster> own(centres.size());
        for (std::size_t i = begin; i < end; i++) {
            assignment[i] = nearest(points[i]);
            Cluster &cluster = own[assignment[i]];
            for (int d = 0; d < DIMENSIONS; d++)
                cluster.sum[d] += points[i][d];
            cluster.count++;
        }
        const std::lock_guard lock(mutex);
        for (std::size_t c = 0; c < own.size(); c++) {
            for (int d = 0; d < DIMENSIONS; d++)
                clusters[c].sum[d] += own[c].sum[d];
            clusters[c].count += own[c].count;
        }
    }

    void recentre() {
        for (std::size_t c = 0; c < centres.size(); c++) {
            for (int d = 0; d < DIMENSIONS && clusters[c].count > 0; d++)
                centres[c][d] = static_cast<int32_t>(clusters[c].sum[d] / clusters[c].count);
            clusters[c] = {};
        }
    }
};

int main(int argc, char **argv) {
    const kernel_options options = kernel_parse(argc, argv, {2, 200000, 40, 24});
    if (options.block > 256 || options.block > options.size)
        kernel_fail("at most 256 clusters (-b), and no more than points (-n)");
    Clustering state;
    state.points.resize(static_cast<std::size_t>(options.size));
    for (std::size_t i = 0; i < state.points.size(); i++)
        for (int d = 0; d < DIMENSIONS; d++)
            state.points[i][d] = static_cast<int32_t>(kernel_noise(i * DIMENSIONS + d) * 1e6);
    state.centres.assign(state.points.begin(), state.points.begin() + options.block);
    state.assignment.resize(state.points.size());
    state.clusters.resize(state.centres.size());

    std::barrier together(options.threads);
    auto work = [&](long id) {
        for (long step = 0; step < options.steps; step++) {
            state.assign(static_cast<std::size_t>(kernel_share(options.size, id, options.threads)),
                         static_cast<std::size_t>(kernel_share(options.size, id + 1, options.threads)));
            together.arrive_and_wait();
            if (id == 0)
                state.recentre();
            together.arrive_and_wait();
        }
    };
    std::vector<std::thread> team;
    for (long id = 1; id < options.threads; id++)
        team.emplace_back(work, id);
    work(0);
    for (std::thread &member : team)
        member.join();

    std::uint64_t checksum = 0;
    for (const uint8_t a : state.assignment)
        checksum = kernel_mix(checksum, a);
    kernel_print(checksum);
}
