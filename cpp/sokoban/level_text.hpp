// The level parser of Sokoban.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/text/lines.hpp"
#include "core/text/pack.hpp"

/// The level parser of Sokoban: text in, states out, and back. docs/guides/level-files.md is the grammar.
///
/// A file comes from strangers, so every line is checked before any memory depends on it, and a fault is named by line
/// and column. core/text/lines.hpp refuses what is no text and cuts it into lines; core/text/pack.hpp decides which
/// lines are rows of a level and to which a title belongs; this file says what the symbols mean and which grids are
/// levels. Each puzzle has such a level_text, and tests/fuzz feeds it with damaged files.
namespace recommit::sokoban {

/// Every level of the text, outside floor turned into wall. A level that comes back has one player, as many boxes as
/// goals (at least one) and walls at all of its edge that the player could otherwise reach. Throws LevelError.
Pack parse_levels(const Text& text);

/// Number of the first line that a Sokoban pack would take for a row; 0 if there is none.
int first_row(const Text& text);

/// Is the line a row of this puzzle, and no text in anybody's level file?
bool owns(std::string_view line) noexcept;

/// Can these cells be a state of this puzzle and of no other puzzle?
bool recognises(const std::uint8_t* state, Shape shape) noexcept;

/// The text that parse_levels turns into exactly this pack (boxoban numbers its untitled levels). Throws ValueError,
/// naming states[i] or titles[i], where there is no such text.
std::string format_levels(const Pack& pack, PackFormat format);

}  // namespace recommit::sokoban
