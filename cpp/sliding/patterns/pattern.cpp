// Ranking and unranking of a pattern's placements.
#include "sliding/patterns/pattern.hpp"

#include <cstdlib>
#include <utility>

namespace recommit::sliding {

Pattern::Pattern(Shape shape, std::vector<std::uint8_t> tiles) : shape_(shape), tiles_(std::move(tiles)) {
  std::uint32_t weight = 1;
  for (int i = count() - 1; i >= 0; --i) {
    weights_[static_cast<std::size_t>(i)] = weight;
    weight *= static_cast<std::uint32_t>(shape.cells() - i);
  }
  size_ = weight;
}

std::uint32_t Pattern::rank(const std::uint8_t* cells) const noexcept {
  std::uint32_t index = 0;
  for (int i = 0; i < count(); ++i) {
    std::uint32_t digit = cells[i];
    for (int j = 0; j < i; ++j) digit -= cells[j] < cells[i];
    index += digit * weight(i);
  }
  return index;
}

void Pattern::unrank(std::uint32_t index, std::uint8_t* cells, int wanted) const noexcept {
  std::uint32_t used = 0;
  for (int i = 0; i < wanted; ++i) {
    std::uint32_t digit = index / weight(i);
    index %= weight(i);
    std::uint8_t cell = 0;
    for (;; ++cell) {
      if ((used >> cell & 1) == 0 && digit-- == 0) break;
    }
    used |= std::uint32_t{1} << cell;
    cells[i] = cell;
  }
}

int Pattern::manhattan(const std::uint8_t* cells) const noexcept {
  int sum = 0;
  for (int i = 0; i < count(); ++i) {
    const int goal = tiles_[static_cast<std::size_t>(i)] - 1;
    sum +=
        std::abs(cells[i] / shape_.cols - goal / shape_.cols) + std::abs(cells[i] % shape_.cols - goal % shape_.cols);
  }
  return sum;
}

}  // namespace recommit::sliding
