// Text from strangers: what is checked before a parser sees it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "core/errors.hpp"

/// Text from strangers: what is checked before any parser sees it, and how it falls into lines.
namespace recommit {

inline constexpr std::size_t kMaxTextBytes = std::size_t{64} << 20;
inline constexpr std::size_t kMaxLineBytes = 4096;

/// Bytes that passed the checks: not too many, valid UTF-8, no control characters but tabs and line ends, every CR
/// followed by LF, no endless line. A byte order mark at the start is left out. A view: the bytes must outlive it.
/// Throws LevelError. Immutable.
class Text {
 public:
  explicit Text(std::string_view bytes);
  std::string_view body() const noexcept { return body_; }

 private:
  std::string_view body_;
};

/// One line without its end; `number` counts from 1.
struct Line {
  std::string_view text;
  int number = 0;
  int column = 0;  ///< of a row that was written as runs: where it begins in its line; 0: columns are those of the text
};

/// The lines of a text, one after another. Not shared between threads.
class Lines {
 public:
  explicit Lines(const Text& text) noexcept : rest_(text.body()) {}
  bool next(Line& line) noexcept;

 private:
  std::string_view rest_;
  int number_ = 0;
};

/// A LevelError whose message starts with the place; column is counted from 0 here, as indices are.
LevelError error_at(const Line& line, std::size_t index, const std::string& what);

/// The character at `index` for a message: as itself if it prints, else as U+0000.
std::string describe_char(std::string_view text, std::size_t index);

/// Without the spaces and tabs at both ends.
std::string_view trimmed(std::string_view text) noexcept;

/// True iff the text is one line that reads back as written: trimmed, valid UTF-8, no control characters but tabs.
bool is_clean_line(std::string_view text) noexcept;

/// True iff the text is one or more decimal digits.
bool is_number(std::string_view text) noexcept;

/// True iff the line is two or more numbers with nothing but spaces between and around them.
bool is_number_row(std::string_view line) noexcept;

inline constexpr bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }

}  // namespace recommit
