// Untrusted text: checks before parsing.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "core/errors.hpp"

/// Untrusted text: checks before parsing, and splitting into lines.
namespace recommit {

inline constexpr std::size_t kMaxTextBytes = std::size_t{64} << 20;
inline constexpr std::size_t kMaxLineBytes = 4096;

/// Checked bytes: bounded size, valid UTF-8, no control characters but tabs and line ends, every CR followed by LF,
/// bounded lines. A byte order mark at the start is skipped. A view: the bytes must outlive it. Throws LevelError.
/// Immutable.
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
  int column = 0;  ///< for a row written as runs: its column in the line; 0: columns are those of the text
};

/// Iterates over the lines of a text. Not thread-safe.
class Lines {
 public:
  explicit Lines(const Text& text) noexcept : rest_(text.body()) {}
  bool next(Line& line) noexcept;

 private:
  std::string_view rest_;
  int number_ = 0;
};

/// A LevelError whose message starts with the position; `index` counts from 0.
LevelError error_at(const Line& line, std::size_t index, const std::string& what);

/// The character at `index` for a message: itself if printable, else U+0000.
std::string describe_char(std::string_view text, std::size_t index);

/// The text without spaces and tabs at both ends.
std::string_view trimmed(std::string_view text) noexcept;

/// True iff the text is a single line that survives a round trip: trimmed, valid UTF-8, no control characters but tabs.
bool is_clean_line(std::string_view text) noexcept;

/// True iff the text is one or more decimal digits.
bool is_number(std::string_view text) noexcept;

/// True iff the line is two or more numbers with nothing but spaces between and around them.
bool is_number_row(std::string_view line) noexcept;

inline constexpr bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }

}  // namespace recommit
