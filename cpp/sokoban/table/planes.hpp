// Bit planes of raw states.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/types.hpp"
#include "sokoban/simulate.hpp"

namespace recommit::sokoban {

/// A raw state as bit planes: bit i % 64 of word i / 64 belongs to grid position i. Reading a state this way is several
/// times faster than cell by cell, and two states share walls and goals iff two planes are equal.
struct Planes {
  static constexpr std::size_t kWords = kMaxSide * kMaxSide / 64;
  std::array<std::uint64_t, kWords> walls, goals, boxes, players;  ///< words beyond the state's are not written
};

inline constexpr std::size_t plane_words(Shape shape) noexcept {
  return (static_cast<std::size_t>(shape.cells()) + 63) / 64;
}

/// Grid position of the player. Throws ValueError, naming the batch index, unless the state is well formed.
int read_planes(const std::uint8_t* state, Shape shape, std::size_t index, Planes& out);

/// The state with these planes.
std::vector<std::uint8_t> cells_of(const Planes& planes, Shape shape);

/// Hash of walls and goals; the same on every platform.
std::uint64_t hash_still(const Planes& planes, Shape shape) noexcept;

}  // namespace recommit::sokoban
