// The level parser of the icy cave.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/text/lines.hpp"
#include "core/text/pack.hpp"

/// The level parser of the icy cave (sokoban/level_text.hpp says how all of them work): `%` rock, blank (or `-`, `_`)
/// ice, `.` goal, `@` player, `+` player on the goal. All rows begin and end with a rock; docs/guides/level-files.md is
/// the grammar.
namespace recommit::ice {

/// Every cave of the text, with one player, one goal and rocks all around. Throws LevelError.
Pack parse_levels(const Text& text);

/// Number of the first line that may be a row of a cave; 0 if there is none.
int first_row(const Text& text);

/// True if the line is a row of a cave and cannot be text in another level file.
bool owns(std::string_view line) noexcept;

/// True for a state with rocks all around, which no state of another puzzle is.
bool recognises(const std::uint8_t* state, Shape shape) noexcept;

/// The text that parse_levels turns into exactly this pack (boxoban numbers its untitled levels). Throws ValueError,
/// naming states[i] or titles[i], if there is no such text.
std::string format_levels(const Pack& pack, PackFormat format);

}  // namespace recommit::ice
