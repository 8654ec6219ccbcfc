// The level parser of Sokoban.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/text/lines.hpp"
#include "core/text/pack.hpp"

/// The level parser of Sokoban: text in, states out, and back. docs/guides/level-files.md is the grammar.
///
/// Files are untrusted, so every line is checked before memory is allocated for it, and errors name line and column.
/// core/text/lines.hpp validates text and splits it into lines; core/text/pack.hpp decides which lines are rows of a
/// level and to which level a title belongs; this file defines the symbols and the valid grids. Each puzzle has such a
/// level_text, and tests/fuzz feeds it with damaged files.
namespace recommit::sokoban {

/// All levels of the text, with outside floor turned into wall. Each has one player, as many boxes as goals (at least
/// one), and walls along every edge that the player could otherwise reach. Throws LevelError.
Pack parse_levels(const Text& text);

/// Number of the first line that may be a row of a Sokoban level; 0 if there is none.
int first_row(const Text& text);

/// True if the line is a row of this puzzle and cannot be text in another level file.
bool owns(std::string_view line) noexcept;

/// True if these cells can only be a state of this puzzle.
bool recognises(const std::uint8_t* state, Shape shape) noexcept;

/// The text that parse_levels turns into exactly this pack (boxoban numbers its untitled levels). Throws ValueError,
/// naming states[i] or titles[i], if there is no such text.
std::string format_levels(const Pack& pack, PackFormat format);

}  // namespace recommit::sokoban
