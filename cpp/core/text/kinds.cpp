// Classification of comment, key and blank lines.
#include "core/text/kinds.hpp"

#include <algorithm>
#include <cstddef>

namespace recommit {
namespace {

constexpr std::string_view kBlanks = " \t-_";

constexpr bool is_letter(char c) noexcept { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

/// Length of the key before the colon of a key line; 0 if the (trimmed) line is not one.
std::size_t key_length(std::string_view line) noexcept {
  if (line.empty() || !is_letter(line.front())) return 0;
  for (std::size_t i = 1; i < line.size(); ++i) {
    const char c = line[i];
    if (c == ':') return i;
    if (!is_letter(c) && !is_digit(c) && c != ' ' && c != '-' && c != '_') return 0;
  }
  return 0;
}

bool is_comment(std::string_view line) noexcept {
  const std::string_view text = trimmed(line);
  return !text.empty() && text.front() == ';';
}

/// True if the line is `KEY:`, case-insensitively; `key` must be lower case.
bool has_key(std::string_view line, std::string_view key) noexcept {
  const std::string_view text = trimmed(line);
  const std::string_view own = trimmed(text.substr(0, key_length(text)));
  return std::equal(own.begin(), own.end(), key.begin(), key.end(),
                    [](char a, char b) { return (a >= 'A' && a <= 'Z' ? a - 'A' + 'a' : a) == b; });
}

std::string_view value_of(std::string_view line) noexcept {
  const std::string_view text = trimmed(line);
  return trimmed(text.substr(key_length(text) + 1));
}

bool ends_block(std::string_view line) noexcept { return has_key(line, "comment-end") || has_key(line, "comment_end"); }

CommonKind kind_of(std::string_view line) noexcept {
  if (is_comment(line)) return CommonKind::Comment;
  if (trimmed(line).substr(0, 2) == "::") return CommonKind::Aside;
  if (first_symbol(line) == std::string_view::npos) return CommonKind::Blank;
  return key_length(trimmed(line)) != 0 ? CommonKind::Key : CommonKind::Other;
}

}  // namespace

CommonKind KindReader::next(Line& line) noexcept {
  if (!lines_.next(line)) return CommonKind::End;
  if (in_block_) {
    in_block_ = !ends_block(line.text);
    return CommonKind::Aside;
  }
  const CommonKind kind = kind_of(line.text);
  if (kind != CommonKind::Key || !opens_block(line.text)) return kind;
  in_block_ = last_end_ > line.number;
  return in_block_ ? CommonKind::Aside : kind;
}

/// A block without end does not count, as it would hide the rest of the file. The last end is searched for only once.
bool KindReader::opens_block(std::string_view line) noexcept {
  if (!has_key(line, "comment") || !value_of(line).empty()) return false;
  if (last_end_ >= 0) return true;
  last_end_ = 0;
  Lines ahead = lines_;
  for (Line each; ahead.next(each);) {
    if (ends_block(each.text)) last_end_ = each.number;
  }
  return true;
}

std::string_view title_of_key(std::string_view line) noexcept {
  return has_key(line, "title") ? value_of(line) : std::string_view{};
}

std::string_view said_by(std::string_view comment) noexcept { return trimmed(trimmed(comment).substr(1)); }

std::size_t first_symbol(std::string_view line) noexcept { return line.find_first_not_of(kBlanks); }

}  // namespace recommit
