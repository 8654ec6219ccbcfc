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

/// How to answer. No answer depends on anything here but the limits.
struct SolverOptions {
  Database database = Database::Small;
  bool full_tables = true;  ///< complete tables where they fit (up to ten cells); otherwise search
  SearchOptions search;
  Limits limits;  ///< of one state's answer; where `bytes` is too small for a table, less memory and more time is used
};

/// Where the answers of a batch go; any pointer may be null. `bound` is proven: the length where it is exact, -1 where
/// there is no plan, and what was shown before a limit was hit.
struct Answers {
  Distance* length = nullptr;
  Status* status = nullptr;
  std::uint64_t* nodes = nullptr;
  Distance* bound = nullptr;
};

/// Which of several optimal plans is given: the first in action order, or one made by choosing uniformly among the
/// optimal actions at every step.
enum class Ties : std::uint8_t { First = 0, Random = 1 };

/// The one entry to exact distances of a shape. Immutable: any number of threads may call it, for different parts of a
/// batch, and the answers do not depend on how it was cut. Every call throws ValueError for states that are no
/// permutation, and Interrupted once `watch` is stopped. Tables are made or loaded by the constructor.
class Solver {
 public:
  Solver(Shape shape, const SolverOptions& options, int threads, Watch* watch = nullptr);

  void distance(const std::uint8_t* states, Answers out, std::size_t begin, std::size_t end,
                Watch* watch = nullptr) const;

  /// plans[i] = an optimal plan of states[i]; empty where there is none or a limit was hit. State i draws from the
  /// stream (seed, Ties, i).
  void solve(const std::uint8_t* states, Ties ties, std::uint64_t seed, std::vector<std::uint8_t>* plans, Answers out,
             std::size_t begin, std::size_t end, Watch* watch = nullptr) const;

  /// masks[i][a]: does action a lower the distance by one? All zero at the goal, without a plan, or at a limit.
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
  std::shared_ptr<const FullTable> table_;  // either this
  std::shared_ptr<const Model> model_;      // or this
};

}  // namespace recommit::sliding
