// Ranking of a level's box sets.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "sokoban/level.hpp"

namespace recommit::sokoban {

inline constexpr std::uint64_t kSaturated = std::numeric_limits<std::uint64_t>::max();

/// Saturating a + b and a * b, for sizes that are compared with a limit before allocation.
constexpr std::uint64_t add_saturated(std::uint64_t a, std::uint64_t b) noexcept {
  return a > kSaturated - b ? kSaturated : a + b;
}
constexpr std::uint64_t multiply_saturated(std::uint64_t a, std::uint64_t b) noexcept {
  return b != 0 && a > kSaturated / b ? kSaturated : a * b;
}

/// n choose k, kSaturated if it does not fit.
std::uint64_t binomial(std::uint64_t n, std::uint64_t k) noexcept;

/// Numbers the sets of `boxes` live cells of a level 0..count()-1, in colexicographic order: a set whose members are
/// the live cells number v0 < v1 < ... has rank C(v0,1) + C(v1,2) + ... Immutable after construction.
class BoxSets {
 public:
  static constexpr std::uint32_t kDead = 0xFFFFFFFFU;

  /// Number of sets, kSaturated on overflow; cheap, to be checked before construction.
  static std::uint64_t count(const Level& level, int boxes) noexcept;

  /// Needs count(level, boxes) < 2^32 - 1.
  BoxSets(const Level& level, int boxes);

  std::uint32_t count() const noexcept { return count_; }
  int boxes() const noexcept { return boxes_; }
  std::uint64_t bytes() const noexcept { return 4 * share_.size() + 3 * is_live_.size(); }

  /// Contribution of the box on `cell` to the rank, as the i-th of its set (from 0); arithmetic is modulo 2^32.
  std::uint32_t share(int i, int cell) const noexcept {
    return share_[static_cast<std::size_t>(i) * cells_ + static_cast<std::size_t>(cell)];
  }

  /// Rank of ascending cells, kDead if one of them is not live.
  std::uint32_t rank(const std::uint16_t* cells) const noexcept;

  /// Cells of the set with this rank, ascending.
  void unrank(std::uint32_t rank, std::uint16_t* cells) const noexcept;

 private:
  int boxes_;
  std::size_t cells_;
  std::uint32_t count_;
  std::vector<std::uint32_t> share_;       // [boxes][cells]
  std::vector<std::uint16_t> live_cells_;  // live number -> cell
  std::vector<std::uint8_t> is_live_;
};

}  // namespace recommit::sokoban
