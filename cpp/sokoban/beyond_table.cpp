#include "sokoban/beyond_table.hpp"

#include <algorithm>

namespace recommit::sokoban {

Solution beyond_table(const Level& level, const State& state, [[maybe_unused]] const Limits& limits, Status refused,
                      [[maybe_unused]] bool plan, [[maybe_unused]] Watch* watch) {
  Solution solution;
  const bool stuck = std::any_of(state.boxes.begin(), state.boxes.end(), [&](int box) { return !level.is_live(box); });
  if (stuck || static_cast<int>(state.boxes.size()) > level.goals()) {
    solution.answer = {kUnsolvable, kUnsolvable, Status::Unsolvable, 0};
    return solution;
  }
  const auto away = std::count_if(state.boxes.begin(), state.boxes.end(), [&](int box) { return !level.is_goal(box); });
  if (away == 0) {
    solution.answer = {0, 0, Status::Exact, 0};
    return solution;
  }
  // ---------------------------------------------------------------------------------------------------------------
  // THE BOUNDED FORWARD SEARCH GOES HERE (sokoban/search.hpp): SearchResult search(level, state, limits, watch).
  // Until it is called, nothing is claimed beyond one push per box that is not on a goal.
  // ---------------------------------------------------------------------------------------------------------------
  solution.answer = {kUnknown, static_cast<Distance>(away), refused, 0};
  return solution;
}

}  // namespace recommit::sokoban
