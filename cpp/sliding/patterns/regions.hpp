// Regions of free cells in which the blank can be, for a pattern's placement.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "core/types.hpp"

namespace recommit::sliding {

/// The connected regions of free cells for a set of occupied cells, numbered by their lowest cell. The blank moves
/// within a region without touching a pattern tile. Boards of up to 16 cells read a table, larger ones flood.
class Regions {
 public:
  using Cells = std::uint32_t;
  static constexpr int kMax = 8;

  explicit Regions(Shape shape);

  /// All cells of the regions in `wanted` (bit r = region r).
  Cells cells(Cells occupied, std::uint8_t wanted) const noexcept {
    if (small_.empty()) return flood_cells(occupied, wanted);
    const auto& sets = small_[occupied].sets;
    Cells all = 0;
    for (unsigned bits = wanted, r = 0; bits != 0; bits >>= 1, ++r) all |= (bits & 1) != 0 ? sets[r] : 0U;
    return all;
  }

  /// Number of the region that holds the free cell `cell`.
  int region(Cells occupied, int cell) const noexcept {
    if (small_.empty()) return flood_region(occupied, cell);
    return static_cast<int>(small_[occupied].labels >> (4 * cell) & 15);
  }

  /// Number of regions.
  int count(Cells occupied) const noexcept {
    if (small_.empty()) return flood_count(occupied);
    int regions = 0;
    for (const std::uint16_t set : small_[occupied].sets) regions += set != 0;
    return regions;
  }

  /// Neighbours of `cells`; whether cells themselves are included is unspecified.
  Cells spread(Cells cells) const noexcept {
    return cells << shape_.cols | cells >> shape_.cols | (cells & not_last_) << 1 | (cells & not_first_) >> 1;
  }
  /// Cells that are not in the last, or not in the first, column.
  Cells not_last() const noexcept { return not_last_; }
  Cells not_first() const noexcept { return not_first_; }

 private:
  struct Small {
    std::uint64_t labels = 0;
    std::array<std::uint16_t, kMax> sets{};
  };

  Cells flood(Cells free, Cells seed) const noexcept;
  Cells flood_cells(Cells occupied, std::uint8_t wanted) const noexcept;
  int flood_count(Cells occupied) const noexcept;
  int flood_region(Cells occupied, int cell) const noexcept;

  Shape shape_;
  Cells all_ = 0, not_last_ = 0, not_first_ = 0;
  std::vector<Small> small_;
};

}  // namespace recommit::sliding
