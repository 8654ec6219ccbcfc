// Sprites of a puzzle, drawn once per theme and cell size, and cached.
#include "core/draw/atlas.hpp"

#include <cstring>
#include <string>
#include <tuple>

#include "core/errors.hpp"
#include "core/threads/cache.hpp"

namespace recommit {

Atlas::Atlas(const Sprites& sprites, int cell, Theme theme)
    : cell_(cell), codes_(sprites.codes), stride_((row_bytes() + 2 * kChunk - 1) / kChunk * kChunk) {
  const auto rows = static_cast<std::size_t>(cell);
  pixels_.resize(kChunk + static_cast<std::size_t>(codes_) * rows * stride_);
  start_.fill(kChunk);
  std::uint8_t* to = pixels_.data() + kChunk;
  for (int code = 0; code < codes_; ++code) {
    const Canvas canvas = sprites.draw(code, cell, theme);
    start_[static_cast<std::size_t>(code)] = static_cast<std::uint32_t>(to - pixels_.data());
    for (std::size_t row = 0; row < rows; ++row, to += stride_)
      std::memcpy(to, canvas.data() + row * row_bytes(), row_bytes());
  }
}

std::shared_ptr<const Atlas> atlas(const Sprites& sprites, int cell, Theme theme) {
  check_cell(cell);
  using Key = std::tuple<decltype(sprites.draw), int, Theme>;
  static auto& cache = forever(new Cache<Key, Atlas>(kAtlases));
  return cache.get({sprites.draw, cell, theme}, [&] { return Atlas(sprites, cell, theme); });
}

void check_cell(int cell) {
  if (cell < kMinCell || cell > kMaxCell) {
    throw ValueError("cell: expected " + std::to_string(kMinCell) + ".." + std::to_string(kMaxCell) + " pixels, got " +
                     std::to_string(cell));
  }
}

}  // namespace recommit
