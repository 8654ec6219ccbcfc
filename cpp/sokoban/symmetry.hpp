// The eight symmetries of a grid.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/types.hpp"

/// The eight symmetries of the grid: distances and, with actions renamed, plans are the same in all of them.
namespace recommit::sokoban {

inline constexpr int kSymmetries = 8;

/// Symmetry s: bit 0 swaps rows and columns, then bit 1 turns the rows upside down, then bit 2 mirrors the columns.
/// Symmetry 0 changes nothing. Writes the image of a grid to `out` and returns its shape.
Shape transform(const std::uint8_t* grid, Shape shape, int symmetry, std::uint8_t* out) noexcept;

/// What an action is called in the image.
int transform_action(int action, int symmetry) noexcept;

/// The symmetry that undoes another.
int inverse_symmetry(int symmetry) noexcept;

/// Equal for two well-formed states iff one is an image of the other, as far as its player's region goes: walls around
/// the region and its place in the grid do not count. The smallest of eight images: rows, columns, cell codes of the
/// region's rectangle, then 1 if a box is stuck off a goal outside it.
std::vector<std::uint8_t> canonical_key(const std::uint8_t* state, Shape shape, std::size_t index = 0);

/// 128 bits of canonical_key(), for sets of states; the same on every platform.
using Digest = std::array<std::uint64_t, 2>;
Digest canonical_digest(const std::uint8_t* state, Shape shape, std::size_t index = 0);

}  // namespace recommit::sokoban
