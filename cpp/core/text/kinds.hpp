// The lines of a pack that are the same for every puzzle.
#pragma once

#include <cstdint>
#include <string_view>

#include "core/text/lines.hpp"

/// The lines of a pack that are the same for every puzzle: comments, keys, blank lines, and what stands aside.
namespace recommit {

/// Aside: lines from `Comment:` to `Comment-End:`, and those that start with `::`. Other: rows and words.
enum class CommonKind : std::uint8_t { End, Comment, Blank, Key, Aside, Other };

/// The lines of a text with their kinds, one after another. May be copied to look ahead.
class KindReader {
 public:
  explicit KindReader(const Text& text) noexcept : lines_(text) {}
  CommonKind next(Line& line) noexcept;

 private:
  bool opens_block(std::string_view line) noexcept;

  Lines lines_;
  bool in_block_ = false;
  int last_end_ = -1;  // number of the last `Comment-End:`; -1: nobody looked
};

/// What the line says if it is `Title: ...`, else empty.
std::string_view title_of_key(std::string_view line) noexcept;

/// What a comment says, without its `;`.
std::string_view said_by(std::string_view comment) noexcept;

/// First character that is no blank (space, tab, '-', '_'), or npos.
std::size_t first_symbol(std::string_view line) noexcept;

}  // namespace recommit
