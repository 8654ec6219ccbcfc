// Recognition and expansion of run-length encoded rows.
#include "core/text/runs.hpp"

#include <algorithm>

namespace recommit {
namespace {

constexpr char kRowEnd = '|';

std::string_view without_spaces_behind(std::string_view line) noexcept {
  return line.substr(0, line.find_last_not_of(" \t") + 1);
}

/// The number that begins at `at`, capped at kMaxLineBytes + 1, or 1 without digits; `at` is moved behind its digits.
std::size_t take_number(std::string_view text, std::size_t& at) noexcept {
  if (!is_digit(text[at])) return 1;
  std::size_t number = 0;
  for (; at < text.size() && is_digit(text[at]); ++at) {
    number = std::min(number * 10 + static_cast<std::size_t>(text[at] - '0'), kMaxLineBytes + 1);
  }
  return number;
}

std::string unrolled(std::string_view row) {
  std::string out;
  for (std::size_t at = 0; at < row.size(); ++at) {
    const std::size_t count = take_number(row, at), room = kMaxLineBytes - out.size();
    out.append(std::min(count, room), row[at]);
    if (count > room) {
      out.back() = '#';
      break;
    }
  }
  return out;
}

}  // namespace

Runs runs_of(std::string_view line, std::string_view cells) noexcept {
  if (std::none_of(line.begin(), line.end(), [](char c) { return is_digit(c) || c == kRowEnd; })) return Runs::No;
  const std::string_view text = without_spaces_behind(line);
  bool rolled = false, spaced = false, row_is_empty = true;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] == kRowEnd) {
      if (row_is_empty) return Runs::No;
      rolled = row_is_empty = true;
      continue;
    }
    if (is_digit(text[at])) {
      rolled = true;
      if (text[at] == '0') return Runs::No;
      take_number(text, at);
      spaced = spaced || (at < text.size() && text[at] == ' ');
    }
    if (at == text.size() || cells.find(text[at]) == std::string_view::npos) return Runs::No;
    row_is_empty = false;
  }
  if (!rolled || text.find('#') == std::string_view::npos) return Runs::No;
  return spaced ? Runs::Spaced : Runs::Yes;
}

std::size_t unroll(const Line& line, std::size_t most, std::deque<std::string>& store, std::vector<Line>& rows) {
  const std::string_view text = without_spaces_behind(line.text);
  std::size_t count = 0;
  for (std::size_t begin = 0; begin < text.size(); ++count) {
    const std::size_t end = std::min(text.find(kRowEnd, begin), text.size());
    if (count < most) {
      store.push_back(unrolled(text.substr(begin, end - begin)));
      rows.push_back({store.back(), line.number, static_cast<int>(begin) + 1});
    }
    begin = end + 1;
  }
  return count;
}

}  // namespace recommit
