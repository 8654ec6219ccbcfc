// Wall time of single 4x4 boards inside a batch, which Python cannot see: the clock is read around each board.
//   sliding_near SHORTEST LONGEST COUNT ROUNDS  ->  one line: median, p10, p90, mean microseconds, median nodes
// Of each board the best round counts. Every answer is checked.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "sliding/generate.hpp"
#include "sliding/search/model.hpp"
#include "sliding/search/search.hpp"

int main(int argc, char** argv) {
  using namespace recommit;
  using namespace recommit::sliding;
  using Clock = std::chrono::steady_clock;
  if (argc != 5) return 2;
  const int shortest = std::atoi(argv[1]), longest = std::atoi(argv[2]), rounds = std::atoi(argv[4]);
  const auto count = static_cast<std::size_t>(std::atoi(argv[3]));
  const Shape shape{4, 4};
  std::vector<std::uint8_t> states(count * 16);
  std::vector<Distance> lengths(count);
  Generator(shape, shortest, longest, 1).generate(2, 0, states.data(), lengths.data(), 0, count);
  const auto search = Search::make(Model::shared(shape, Database::Small, 1, nullptr), {});
  std::vector<double> micros(count, 1e9);
  std::vector<std::uint64_t> nodes(count);
  for (int round = 0; round < rounds; ++round) {
    for (std::size_t i = 0; i < count; ++i) {
      const auto begin = Clock::now();
      Effort effort{Limits{}};
      int bound = search->start(states.data() + i * 16);
      for (bool found = false;; bound += 2) {
        search->within(bound, effort, found);
        if (found) break;
      }
      micros[i] = std::min(micros[i], std::chrono::duration<double, std::micro>(Clock::now() - begin).count());
      nodes[i] = effort.nodes();
      if (bound != lengths[i]) return 1;
    }
  }
  double sum = 0;
  for (const double each : micros) sum += each;
  std::sort(micros.begin(), micros.end());
  std::sort(nodes.begin(), nodes.end());
  std::printf("%.3f %.3f %.3f %.3f %llu\n", micros[count / 2], micros[count / 10], micros[count * 9 / 10],
              sum / static_cast<double>(count), static_cast<unsigned long long>(nodes[count / 2]));
  return 0;
}
