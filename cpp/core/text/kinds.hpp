// Puzzle-independent kinds of lines of a pack.
#pragma once

#include <cstdint>
#include <string_view>

#include "core/text/lines.hpp"

/// Puzzle-independent kinds of lines of a pack: comments, keys, blank lines, and lines set aside.
namespace recommit {

/// Aside: lines from `Comment:` to `Comment-End:`, and those that start with `::`. Other: rows and text.
enum class CommonKind : std::uint8_t { End, Comment, Blank, Key, Aside, Other };

/// Iterates over the lines of a text with their kinds. May be copied to look ahead.
class KindReader {
 public:
  explicit KindReader(const Text& text) noexcept : lines_(text) {}
  CommonKind next(Line& line) noexcept;

 private:
  bool opens_block(std::string_view line) noexcept;

  Lines lines_;
  bool in_block_ = false;
  int last_end_ = -1;  // number of the last `Comment-End:`; -1: not searched yet
};

/// The title of a line `Title: ...`, else empty.
std::string_view title_of_key(std::string_view line) noexcept;

/// The text of a comment, without its `;`.
std::string_view said_by(std::string_view comment) noexcept;

/// Index of the first character that is not blank (space, tab, '-', '_'), or npos.
std::size_t first_symbol(std::string_view line) noexcept;

}  // namespace recommit
