#include "sokoban/search/beyond_table.hpp"

#include <utility>

#include "sokoban/search/search.hpp"

namespace recommit::sokoban {

Solution beyond_table(const Level& level, const State& state, const Limits& limits, bool first, Watch* watch) {
  // This is the one place where the solver meets the forward search.
  SearchOptions options;
  options.first = first;
  SearchResult found = search(level, state, limits, options, watch);
  Solution solution;
  const bool decided = found.status == Status::Exact || found.status == Status::Unsolvable;
  solution.answer = {found.length, decided ? found.length : found.lower_bound, found.status, found.nodes};
  if (found.status == Status::Exact) solution.actions = std::move(found.plan);
  return solution;
}

}  // namespace recommit::sokoban
