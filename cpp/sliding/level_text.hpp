// The level parser of sliding puzzles.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/text/lines.hpp"
#include "core/text/pack.hpp"

/// The level parser of the sliding puzzle (sokoban/level_text.hpp says how all of them work). Boards are rows of
/// numbers, 0 is the blank; docs/guides/level-files.md is the grammar.
namespace recommit::sliding {

/// Every board of the text: permutations of 0..n-1, all of one shape, 2..5 by 2..5. Throws LevelError.
Pack parse_levels(const Text& text);

/// Number of the first line of two or more numbers and nothing else; 0 if there is none.
int first_row(const Text& text);

/// True if the line is a row of this puzzle and cannot be text in another level file.
bool owns(std::string_view line) noexcept;

/// True if these cells can only be a state of this puzzle.
bool recognises(const std::uint8_t* state, Shape shape) noexcept;

/// The text that parse_levels turns into exactly this pack (boxoban numbers its untitled boards). Throws ValueError,
/// naming states[i] or titles[i], if there is no such text.
std::string format_levels(const Pack& pack, PackFormat format);

}  // namespace recommit::sliding
