// Exact distances and optimal plans of sliding puzzles.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/limits.hpp"
#include "core/threads/watch.hpp"
#include "core/types.hpp"
#include "sliding/search/model.hpp"
#include "sliding/search/search.hpp"
#include "sliding/table/full_table.hpp"

namespace recommit::sliding {

/// Solver options. Answers depend on none of them but the limits.
struct SolverOptions {
  Database database = Database::Small;
  bool full_tables = true;  ///< complete tables where they fit (up to ten cells); otherwise search
  SearchOptions search;
  Limits limits;  ///< per state; if `bytes` is too small for a table, less memory and more time is used
};

/// Outputs for a batch; any pointer may be null. `bound` is a proven lower bound: the length if exact, -1 if
/// unsolvable, and still valid if a limit was hit.
struct Answers {
  Distance* length = nullptr;
  Status* status = nullptr;
  std::uint64_t* nodes = nullptr;
  Distance* bound = nullptr;
};

/// Choice among optimal plans: the first in action order, or uniform among the optimal actions at every step.
enum class Ties : std::uint8_t { First = 0, Random = 1 };

/// The solver of one shape. Immutable: any number of threads may call it for different parts of a batch, and the
/// answers do not depend on the split. Every call throws ValueError for states that are not permutations, and
/// Interrupted once `watch` is stopped. The constructor makes or loads tables.
class Solver {
 public:
  Solver(Shape shape, const SolverOptions& options, int threads, Watch* watch = nullptr);

  void distance(const std::uint8_t* states, Answers out, std::size_t begin, std::size_t end,
                Watch* watch = nullptr) const;

  /// plans[i] = an optimal plan of states[i]; empty if unsolvable or a limit was hit. State i draws from the stream
  /// (seed, Ties, i).
  void solve(const std::uint8_t* states, Ties ties, std::uint64_t seed, std::vector<std::uint8_t>* plans, Answers out,
             std::size_t begin, std::size_t end, Watch* watch = nullptr) const;

  /// masks[i][a]: 1 if action a lowers the distance by one. All zero at the goal, if unsolvable, or at a limit.
  void optimal_actions(const std::uint8_t* states, std::uint8_t* masks, std::size_t begin, std::size_t end,
                       Watch* watch = nullptr) const;

  Shape shape() const noexcept { return shape_; }
  /// Bytes of the tables in use.
  std::size_t bytes() const noexcept;
  const std::shared_ptr<const Model>& model() const noexcept { return model_; }
  const std::shared_ptr<const FullTable>& table() const noexcept { return table_; }

 private:
  class Worker;

  Shape shape_;
  SolverOptions options_;
  std::shared_ptr<const FullTable> table_;  // either the full table
  std::shared_ptr<const Model> model_;      // or the search model
};

}  // namespace recommit::sliding
