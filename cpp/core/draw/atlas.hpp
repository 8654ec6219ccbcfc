// The sprite atlas of one puzzle, theme and cell size.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/draw/canvas.hpp"
#include "core/draw/theme.hpp"

namespace recommit {

inline constexpr int kMinCell = 4, kMaxCell = 112;  ///< cell sizes in pixels

/// A puzzle's drawing function: `draw` makes the square picture of cell code 0..codes-1.
struct Sprites {
  int codes;
  Canvas (*draw)(int code, int cell, Theme theme);
};

/// All sprites of one puzzle, theme and cell size. Immutable, so any number of threads may read it. Before and after
/// each row of a sprite there are at least kChunk zero bytes, so that loads may begin or end outside it.
class Atlas {
 public:
  static constexpr std::size_t kChunk = 32;

  Atlas(const Sprites& sprites, int cell, Theme theme);

  int cell() const noexcept { return cell_; }
  int codes() const noexcept { return codes_; }
  std::size_t row_bytes() const noexcept { return static_cast<std::size_t>(cell_) * 3; }
  std::size_t stride() const noexcept { return stride_; }  ///< from one row of a sprite to the next
  /// The sprite of a code; the first one for invalid codes, so that concurrent writes into states cannot cause
  /// out-of-bounds reads.
  const std::uint8_t* sprite(std::uint8_t code) const noexcept { return pixels_.data() + start_[code]; }

 private:
  int cell_, codes_;
  std::size_t stride_;
  std::array<std::uint32_t, 256> start_;
  std::vector<std::uint8_t> pixels_;
};

/// The atlas, drawn on first use. An LRU cache keeps up to kAtlases. Thread-safe.
inline constexpr std::size_t kAtlases = 32;
std::shared_ptr<const Atlas> atlas(const Sprites& sprites, int cell, Theme theme);

void check_cell(int cell);

}  // namespace recommit
