// The regions of free cells that the blank can reach.
#include "sliding/patterns/regions.hpp"

#include <cstddef>

namespace recommit::sliding {

Regions::Regions(Shape shape) : shape_(shape), all_((Cells{1} << shape.cells()) - 1) {
  for (int cell = 0; cell < shape.cells(); ++cell) {
    if (cell % shape.cols != shape.cols - 1) not_last_ |= Cells{1} << cell;
    if (cell % shape.cols != 0) not_first_ |= Cells{1} << cell;
  }
  if (shape.cells() > 16) return;
  small_.resize(std::size_t{1} << shape.cells());
  for (Cells occupied = 0; occupied <= all_; ++occupied) {
    Small& entry = small_[occupied];
    Cells left = all_ & ~occupied;
    for (std::size_t r = 0; left != 0 && r < kMax; ++r) {
      const Cells region = flood(left, left & (~left + 1));
      entry.sets[r] = static_cast<std::uint16_t>(region);
      for (int cell = 0; cell < shape.cells(); ++cell) {
        if ((region >> cell & 1) != 0) entry.labels |= std::uint64_t{r} << (4 * cell);
      }
      left &= ~region;
    }
  }
}

Regions::Cells Regions::flood(Cells free, Cells seed) const noexcept {
  for (Cells grown = seed;; seed = grown) {
    grown = (seed | spread(seed)) & free;
    if (grown == seed) return seed;
  }
}

Regions::Cells Regions::flood_cells(Cells occupied, std::uint8_t wanted) const noexcept {
  Cells left = all_ & ~occupied, out = 0;
  for (unsigned bits = wanted; left != 0 && bits != 0; bits >>= 1) {
    const Cells region = flood(left, left & (~left + 1));
    if ((bits & 1) != 0) out |= region;
    left &= ~region;
  }
  return out;
}

int Regions::flood_count(Cells occupied) const noexcept {
  int regions = 0;
  for (Cells left = all_ & ~occupied; left != 0; ++regions) left &= ~flood(left, left & (~left + 1));
  return regions;
}

int Regions::flood_region(Cells occupied, int cell) const noexcept {
  Cells left = all_ & ~occupied;
  for (int r = 0;; ++r) {
    const Cells region = flood(left, left & (~left + 1));
    if ((region >> cell & 1) != 0) return r;
    left &= ~region;
  }
}

}  // namespace recommit::sliding
