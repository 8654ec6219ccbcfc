// Positions of cells, and grids as text, for messages.
#pragma once

#include <cstdint>
#include <string>

#include "core/types.hpp"

/// Puzzle-independent functions of a state's cells.
namespace recommit {

/// First cell of the outer ring, in reading order, that is not `wall`; -1 if there is none.
int first_gap(const std::uint8_t* state, Shape shape, std::uint8_t wall) noexcept;

/// For messages: "row 2, column 0".
std::string place_name(int row, int col);

/// Appends a grid as text: one line per row, one character per cell, taken from `symbols` by code.
void append_rows(std::string& out, const std::uint8_t* state, Shape shape, const char* symbols);

}  // namespace recommit
