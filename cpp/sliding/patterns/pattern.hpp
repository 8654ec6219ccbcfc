// A pattern: a set of tiles whose positions give a lower bound of a board's distance.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/types.hpp"
#include "sliding/simulate.hpp"

namespace recommit::sliding {

inline constexpr int kMaxPattern = 8;

/// Numbers the placements of a few tiles ("pattern") on a board, without gaps: the cell of the first tile is the most
/// significant digit, and every digit counts free cells only, so that n*(n-1)*...  placements get the numbers
/// 0..size()-1. A tile that moves from cell a to a higher cell b changes the number by
///     (b - a) * weight(i) + the sum over pattern tiles j between a and b of jump(i, j),
/// which a search adds up in a few instructions. Immutable.
class Pattern {
 public:
  /// `tiles` are tile numbers of the goal 1..n-1, 0; tile t has its goal in cell t - 1.
  Pattern(Shape shape, std::vector<std::uint8_t> tiles);

  Shape shape() const noexcept { return shape_; }
  int count() const noexcept { return static_cast<int>(tiles_.size()); }
  const std::vector<std::uint8_t>& tiles() const noexcept { return tiles_; }
  std::uint32_t size() const noexcept { return size_; }
  std::uint32_t weight(int i) const noexcept { return weights_[static_cast<std::size_t>(i)]; }

  std::int32_t jump(int i, int j) const noexcept {
    if (i == j) return 0;
    return j < i ? -static_cast<std::int32_t>(weight(i)) : static_cast<std::int32_t>(weight(j));
  }

  /// Number of the placement with tile i in cells[i].
  std::uint32_t rank(const std::uint8_t* cells) const noexcept;
  /// The first `count` cells of placement `index`.
  void unrank(std::uint32_t index, std::uint8_t* cells, int count) const noexcept;

  /// Sum of the taxicab distances of the tiles in `cells` to their goals.
  int manhattan(const std::uint8_t* cells) const noexcept;

 private:
  Shape shape_;
  std::vector<std::uint8_t> tiles_;
  std::array<std::uint32_t, kMaxPattern> weights_{};
  std::uint32_t size_ = 0;
};

}  // namespace recommit::sliding
