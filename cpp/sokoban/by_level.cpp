// Scheduling of a batch by level.
#include "sokoban/by_level.hpp"

#include <algorithm>

#include "core/threads/parallel.hpp"

namespace recommit::sokoban {

void by_level(std::size_t count, int threads, const std::function<void(const Part&)>& answer, Watch& watch) {
  // States with a cached table take a tenth of a microsecond each.
  constexpr std::size_t kMost = 1024, kLeast = 64;
  std::mutex mutex;  // guards waiting
  std::vector<Waiting> waiting;
  parallel_for(
      count, threads, solver_grain(count, threads, kMost, kLeast),
      [&](std::size_t begin, std::size_t end) {
        std::vector<Waiting> later;
        answer({.begin = begin, .end = end, .later = &later});
        watch.add(end - begin - later.size());
        const std::lock_guard lock(mutex);
        waiting.insert(waiting.end(), later.begin(), later.end());
      },
      &watch);
  std::sort(waiting.begin(), waiting.end());
  // Each level is assigned to one thread, unless it has very many states: two threads might build its table twice.
  std::vector<std::size_t> cuts{0};
  for (std::size_t i = 1; i < waiting.size(); ++i) {
    if (waiting[i].level != waiting[i - 1].level || i - cuts.back() == kMost) cuts.push_back(i);
  }
  cuts.push_back(waiting.size());
  LastLevel last;
  parallel_for(
      cuts.size() - 1, threads, solver_grain(cuts.size() - 1, threads, kMost),
      [&](std::size_t begin, std::size_t end) {
        answer({.begin = cuts[begin], .end = cuts[end], .order = waiting.data(), .last = &last});
        watch.add(cuts[end] - cuts[begin]);
      },
      &watch);
}

}  // namespace recommit::sokoban
