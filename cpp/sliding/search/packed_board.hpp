// Compact boards.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace recommit::sliding {

/// The tiles of a board of up to 16 cells, four bits each, cell 0 lowest: fits in a register.
class Nibbles {
 public:
  static constexpr int kBits = 4;
  std::uint32_t get(std::size_t cell) const noexcept { return static_cast<std::uint32_t>(bits_ >> (4 * cell) & 15); }
  void put(std::size_t cell, std::uint32_t tile) noexcept { bits_ |= std::uint64_t{tile} << (4 * cell); }
  /// The board after moving the tile of `cell` to the free cell `blank`.
  Nibbles moved(std::size_t cell, std::size_t blank, std::uint32_t tile) const noexcept {
    Nibbles out;
    out.bits_ = bits_ ^ std::uint64_t{tile} << (4 * cell) ^ std::uint64_t{tile} << (4 * blank);
    return out;
  }
  /// The tiles from `cell` on, kBits each; at least four, if there are as many.
  std::uint32_t window(std::size_t cell) const noexcept { return static_cast<std::uint32_t>(bits_ >> (4 * cell)); }

 private:
  std::uint64_t bits_ = 0;
};

/// The same for larger boards, a byte per cell.
class ByteCells {
 public:
  static constexpr int kBits = 8;
  std::uint32_t get(std::size_t cell) const noexcept { return cells_[cell]; }
  void put(std::size_t cell, std::uint32_t tile) noexcept { cells_[cell] = static_cast<std::uint8_t>(tile); }
  ByteCells moved(std::size_t cell, std::size_t blank, std::uint32_t tile) const noexcept {
    ByteCells out = *this;
    out.cells_[cell] = 0;
    out.cells_[blank] = static_cast<std::uint8_t>(tile);
    return out;
  }
  std::uint32_t window(std::size_t cell) const noexcept {
    return static_cast<std::uint32_t>(cells_[cell]) | static_cast<std::uint32_t>(cells_[cell + 1]) << 8 |
           static_cast<std::uint32_t>(cells_[cell + 2]) << 16 | static_cast<std::uint32_t>(cells_[cell + 3]) << 24;
  }

 private:
  std::array<std::uint8_t, 32> cells_{};
};

}  // namespace recommit::sliding
