// Enumeration of goal sets.
#include "sokoban/table/goal_sets.hpp"

#include <cstddef>
#include <numeric>

#include "sokoban/table/box_sets.hpp"

namespace recommit::sokoban {

std::vector<std::uint16_t> goal_sets(const Level& level, int boxes) {
  std::vector<std::uint16_t> goals, sets;
  for (int cell = 0; cell < level.cells(); ++cell) {
    if (level.is_goal(cell)) goals.push_back(static_cast<std::uint16_t>(cell));
  }
  const auto k = static_cast<std::size_t>(boxes);
  sets.reserve(static_cast<std::size_t>(binomial(goals.size(), k)) * k);  // accounted for in Table::build_bytes
  std::vector<std::size_t> chosen(k);
  std::iota(chosen.begin(), chosen.end(), std::size_t{0});
  for (;;) {
    for (const std::size_t i : chosen) sets.push_back(goals[i]);
    std::size_t last = k;
    while (last > 0 && chosen[last - 1] == goals.size() - k + last - 1) --last;
    if (last == 0) return sets;
    ++chosen[last - 1];
    for (std::size_t i = last; i < k; ++i) chosen[i] = chosen[i - 1] + 1;
  }
}

}  // namespace recommit::sokoban
