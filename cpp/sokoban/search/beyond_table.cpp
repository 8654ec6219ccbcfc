// Adapter from the search to the solver's interface.
#include "sokoban/search/beyond_table.hpp"

#include <utility>

#include "sokoban/search/search.hpp"

namespace recommit::sokoban {

Solution beyond_table(const Level& level, const State& state, const Limits& limits, bool first, Watch* watch) {
  // The only use of the forward search by the solver.
  SearchOptions options;
  options.first = first;
  SearchResult result = search(level, state, limits, options, watch);
  Solution solution;
  const bool decided = result.status == Status::Exact || result.status == Status::Unsolvable;
  solution.answer = {result.length, decided ? result.length : result.lower_bound, result.status, result.nodes};
  if (result.status == Status::Exact) solution.actions = std::move(result.plan);
  return solution;
}

}  // namespace recommit::sokoban
