// The sliding search: distances of boards too large for a full table.
#pragma once

#include <chrono>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "core/limits.hpp"
#include "core/threads/watch.hpp"
#include "core/types.hpp"
#include "sliding/search/model.hpp"

/// The sliding search: optimal plans on boards too large for a table of all their states.
///
/// It is iterative-deepening A*: a depth-first descent that keeps to plans of one length, tried for lengths two apart
/// from a lower bound upwards (every move changes the parity of the taxicab distance). The first length with a plan is
/// optimal, because the bound never exceeds the truth and every shorter length was searched in full.
///
/// The bound is the taxicab distance plus, for groups of tiles that share none, the moves that each group needs beyond
/// its own. These come from tables made once (sliding/patterns) and are read as the board is and mirrored. Only moves
/// of a group's own tiles count in its table, so the groups' values may be added.
///
/// solver.hpp (one folder up) chooses between search and table.
///
/// model.hpp         what is fixed for one shape: the groups (partitions.cpp), their tables, the automaton
/// automaton.hpp     which move may follow which, so that most boards are met once
/// descent.hpp       one descent, compiled for each shape; packed_board.hpp is its board
/// search.cpp        several descents in turns on one tree, to hide the time that memory takes; the compiled shapes
namespace recommit::sliding {

/// Remaining limits and the watch of one query, shared by all its searches.
class Effort {
 public:
  explicit Effort(const Limits& limits, Watch* watch = nullptr);

  std::uint64_t nodes() const noexcept { return nodes_; }
  /// Number of nodes that may be visited before the next `check`.
  std::uint64_t allowance() const noexcept;
  /// Accounts for visited nodes and polls the watch; Exact means continue.
  Status check(std::uint64_t visited);

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::uint64_t kChunk = 4096;

  std::uint64_t nodes_ = 0, limit_;
  bool timed_;
  Clock::time_point deadline_{};
  Watch* watch_;
};

/// Options that must not affect any answer.
struct SearchOptions {
  bool pruning = true;  ///< the automaton; without it only immediate reversals are skipped
};

/// Iterative-deepening A* on one shape. Owns its working memory (a few kB): one per thread. A node is a board whose
/// successors were generated.
class Search {
 public:
  /// Returns null for boards of fewer than nine cells.
  static std::unique_ptr<Search> make(std::shared_ptr<const Model> model, const SearchOptions& options = {});
  virtual ~Search() = default;
  Search(const Search&) = delete;
  Search& operator=(const Search&) = delete;

  /// Sets the solvable start board; returns a lower bound of its distance, of the same parity.
  virtual int start(const std::uint8_t* state) = 0;

  /// Decides whether there is a plan of exactly `length` actions (same parity as the bound), given that there is none
  /// shorter. If the status is Exact, `exists` is the answer, and `plan` the first such plan in action order.
  virtual Status within(int length, Effort& effort, bool& exists) = 0;

  /// Plan of the last successful search.
  const std::vector<std::uint8_t>& plan() const noexcept { return plan_; }

 protected:
  Search() = default;
  std::vector<std::uint8_t> plan_;
};

}  // namespace recommit::sliding
