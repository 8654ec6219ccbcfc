// The eight symmetries of a grid.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/types.hpp"

/// The eight symmetries of the grid, under which distances and, with actions renamed, plans are invariant.
namespace recommit::sokoban {

inline constexpr int kSymmetries = 8;

/// Symmetry s: bit 0 swaps rows and columns, then bit 1 turns the rows upside down, then bit 2 mirrors the columns.
/// Symmetry 0 is the identity. Writes the image of a grid to `out` and returns its shape.
Shape transform(const std::uint8_t* grid, Shape shape, int symmetry, std::uint8_t* out) noexcept;

/// The action in the image.
int transform_action(int action, int symmetry) noexcept;

/// The inverse of a symmetry.
int inverse_symmetry(int symmetry) noexcept;

/// Equal for two well-formed states iff one is an image of the other within its player's region: walls around the
/// region and its position in the grid are ignored. The smallest of eight images: rows, columns, cell codes of the
/// region's rectangle, then 1 if a box is stuck off a goal outside it.
std::vector<std::uint8_t> canonical_key(const std::uint8_t* state, Shape shape, std::size_t index = 0);

/// 128 bits of canonical_key(), for sets of states; the same on every platform.
using Digest = std::array<std::uint64_t, 2>;
Digest canonical_digest(const std::uint8_t* state, Shape shape, std::size_t index = 0);

}  // namespace recommit::sokoban
