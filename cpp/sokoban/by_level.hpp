// Batches whose states belong to many levels: every table is made once.
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

/// A state of a batch whose level's table is not at hand.
struct Waiting {
  std::uint64_t level = 0;  ///< a hash of the level
  std::size_t index = 0;    ///< of the state
  auto operator<=>(const Waiting&) const = default;
};

/// The level that was read last, handed from one part to the next: a table that is too large for the cache is kept as
/// long as its states follow each other.
struct LastLevel {
  std::mutex mutex;
  CachedLevel level;
};

/// Which states of a batch one call of the solver answers: [begin, end), or those that `order` names at these places.
struct Part {
  std::size_t begin = 0, end = 0;
  const Waiting* order = nullptr;
  /// Where a state whose table is not at hand is named instead of being answered; null: every state is answered.
  std::vector<Waiting>* later = nullptr;
  LastLevel* last = nullptr;

  std::size_t at(std::size_t place) const noexcept { return order == nullptr ? place : order[place].index; }
};

/// Calls answer(part) until all states of a batch are answered: first those whose tables are at hand, then the others
/// level by level. In whatever order the levels take turns, a table is made once per call (of a level with more than
/// 1,024 states perhaps once per thread), and no more memory is used than the cache may hold and a table or two of
/// every thread.
void by_level(std::size_t count, int threads, const std::function<void(const Part&)>& answer, Watch& watch);

}  // namespace recommit::sokoban
