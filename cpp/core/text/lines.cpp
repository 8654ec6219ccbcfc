// Validation of untrusted bytes as text, and splitting into lines.
#include "core/text/lines.hpp"

#include <algorithm>
#include <cstdint>

namespace recommit {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

constexpr std::uint32_t byte_at(std::string_view text, std::size_t i) noexcept {
  return static_cast<unsigned char>(text[i]);
}

/// One decoded character: its length in bytes, 0 for invalid UTF-8.
struct Decoded {
  std::size_t length;
  std::uint32_t code;
};

/// Shortest form only, no surrogates, nothing above U+10FFFF.
Decoded decode(std::string_view text, std::size_t i) noexcept {
  const std::uint32_t first = byte_at(text, i);
  if (first < 0x80) return {1, first};
  const std::size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || text.size() - i < length) return {0, first};
  std::uint32_t code = first & (0x7Fu >> length);
  for (std::size_t k = 1; k < length; ++k) {
    const std::uint32_t next = byte_at(text, i + k);
    if ((next & 0xC0) != 0x80) return {0, first};
    code = code << 6 | (next & 0x3F);
  }
  const bool overlong = code < (length == 2 ? 0x80u : length == 3 ? 0x800u : 0x10000u);
  const bool surrogate = code >= 0xD800 && code <= 0xDFFF;
  if (overlong || surrogate || code > 0x10FFFF) return {0, first};
  return {length, code};
}

constexpr bool is_control(std::uint32_t code) noexcept {
  return (code < 0x20 && code != '\t') || (code >= 0x7F && code <= 0x9F);
}

std::string hex(std::uint32_t value, int digits) {
  std::string out;
  for (int shift = 4 * (digits - 1); shift >= 0; shift -= 4) out += "0123456789ABCDEF"[value >> shift & 15];
  return out;
}

/// Index of the first forbidden character; the size of the line if there is none.
std::size_t find_bad(std::string_view line) noexcept {
  std::size_t i = 0;
  while (i < line.size()) {
    const Decoded here = decode(line, i);
    if (here.length == 0 || is_control(here.code)) break;
    i += here.length;
  }
  return i;
}

[[noreturn]] void refuse(const Line& line, std::size_t index) {
  const Decoded here = decode(line.text, index);
  if (here.length == 0) {
    throw error_at(line, index, "expected UTF-8, got the byte 0x" + hex(here.code, 2));
  }
  if (here.code == '\r') throw error_at(line, index, "a carriage return stands only before a line feed");
  throw error_at(line, index, "the control character " + describe_char(line.text, index) + " is not allowed");
}

void check_line(const Line& line) {
  const std::size_t bad = find_bad(line.text);
  if (line.text.size() > kMaxLineBytes && bad >= kMaxLineBytes) {
    throw error_at(line, kMaxLineBytes,
                   "expected a line of at most " + std::to_string(kMaxLineBytes) + " bytes, got " +
                       std::to_string(line.text.size()));
  }
  if (bad < line.text.size()) refuse(line, bad);
}

}  // namespace

Text::Text(std::string_view bytes) : body_(bytes) {
  if (bytes.size() > kMaxTextBytes) {
    throw LevelError(
        "expected at most " + std::to_string(kMaxTextBytes) + " bytes of text, got " + std::to_string(bytes.size()), 0,
        0);
  }
  if (body_.substr(0, kByteOrderMark.size()) == kByteOrderMark) body_.remove_prefix(kByteOrderMark.size());
  Lines lines(*this);
  for (Line line; lines.next(line);) check_line(line);
}

bool Lines::next(Line& line) noexcept {
  if (rest_.empty()) return false;
  const std::size_t end = rest_.find('\n');
  line = {rest_.substr(0, end), ++number_};
  rest_.remove_prefix(end == std::string_view::npos ? rest_.size() : end + 1);
  // Only a CR right before LF belongs to the line end; others are refused by Text.
  if (end != std::string_view::npos && !line.text.empty() && line.text.back() == '\r') line.text.remove_suffix(1);
  return true;
}

LevelError error_at(const Line& line, std::size_t index, const std::string& what) {
  const int column = line.column != 0 ? line.column : static_cast<int>(index) + 1;
  return LevelError("line " + std::to_string(line.number) + ", column " + std::to_string(column) + ": " + what,
                    line.number, column);
}

std::string describe_char(std::string_view text, std::size_t index) {
  const std::uint32_t code = decode(text, index).code;
  if (code > 0x20 && code < 0x7F) return std::string("'") + static_cast<char>(code) + "'";
  return "U+" + hex(code, code > 0xFFFFF ? 6 : code > 0xFFFF ? 5 : 4);
}

std::string_view trimmed(std::string_view text) noexcept {
  const std::size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

bool is_clean_line(std::string_view text) noexcept {
  return find_bad(text) == text.size() && trimmed(text).size() == text.size();
}

bool is_number(std::string_view text) noexcept {
  return !text.empty() && std::all_of(text.begin(), text.end(), is_digit);
}

bool is_number_row(std::string_view line) noexcept {
  int numbers = 0;
  char before = ' ';
  for (const char c : line) {
    if (c != ' ' && !is_digit(c)) return false;
    numbers += c != ' ' && before == ' ';
    before = c;
  }
  return numbers >= 2;
}

}  // namespace recommit
