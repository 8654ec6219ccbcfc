// States of a level by distance, for sampling starts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "core/threads/watch.hpp"
#include "core/types.hpp"
#include "sokoban/level.hpp"
#include "sokoban/table/box_sets.hpp"

namespace recommit::sokoban {

/// States of a level by distance up to a limit, for sampling starts: a truncated retrograde analysis that reuses its
/// memory between levels. Not thread-safe.
class Layers {
 public:
  /// Analyses up to distance `last` (at most 254). Uses a byte per state, BoxSets::count times the level's cells, which
  /// the caller must bound.
  void analyse(const Level& level, int boxes, Distance last, Watch* watch = nullptr);

  /// Number of states at a distance.
  std::uint64_t count(Distance distance) const noexcept {
    return static_cast<std::size_t>(distance) < counts_.size() ? counts_[static_cast<std::size_t>(distance)] : 0;
  }

  /// The n-th state at a distance, n < count(distance), in the order of the table.
  State state(Distance distance, std::uint64_t n) const;

 private:
  std::optional<BoxSets> sets_;
  std::size_t cells_ = 0;
  std::vector<std::uint64_t> counts_;
  std::vector<std::uint8_t> distances_;
  std::vector<std::uint64_t> work_;
};

}  // namespace recommit::sokoban
