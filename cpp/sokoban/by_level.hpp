// Scheduling of batches over many levels, so that every table is built once.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <vector>

#include "core/threads/watch.hpp"
#include "sokoban/table/table_cache.hpp"

namespace recommit::sokoban {

/// A state of a batch whose level's table is not cached.
struct Waiting {
  std::uint64_t level = 0;  ///< a hash of the level
  std::size_t index = 0;    ///< of the state
  auto operator<=>(const Waiting&) const = default;
};

/// The last level, passed from one part to the next: a table too large for the cache is kept during consecutive states
/// of its level.
struct LastLevel {
  std::mutex mutex;
  CachedLevel level;
};

/// The states of a batch for one call of the solver: [begin, end), or order[begin..end).
struct Part {
  std::size_t begin = 0, end = 0;
  const Waiting* order = nullptr;
  /// Collects states without cached table instead of solving them; null: solve every state.
  std::vector<Waiting>* later = nullptr;
  LastLevel* last = nullptr;

  std::size_t at(std::size_t place) const noexcept { return order == nullptr ? place : order[place].index; }
};

/// Calls answer(part) until all states of a batch are solved: first those with cached tables, then the others level by
/// level. For any order of levels, a table is built once per call (for a level with more than 1,024 states perhaps once
/// per thread), and memory is bounded by the cache plus a table or two per thread.
void by_level(std::size_t count, int threads, const std::function<void(const Part&)>& answer, Watch& watch);

}  // namespace recommit::sokoban
