// The grammar of caves: symbols to cells and back.
#include "ice/level_text.hpp"

#include <algorithm>
#include <vector>

#include "core/errors.hpp"
#include "core/grid.hpp"
#include "ice/simulate.hpp"

namespace recommit::ice {
namespace {

constexpr std::string_view kSymbols = " %.@+";  // by cell code
constexpr std::string_view kBlanks = "-_";      // also ice
constexpr std::string_view kOthers = "#@+$*.";  // first symbols of Sokoban rows
constexpr char kRockSymbol = '%';

int code_of(char c) noexcept {
  if (kBlanks.find(c) != std::string_view::npos) return kIce;
  const std::size_t at = kSymbols.find(c);
  return at == std::string_view::npos ? -1 : static_cast<int>(at);
}

LineKind kind(std::string_view line) noexcept {
  const char first = line[first_symbol(line)];
  if (first == kRockSymbol) return LineKind::Row;
  if (kOthers.find(first) != std::string_view::npos || is_number_row(line)) return LineKind::Foreign;
  return line.find("%%") != std::string_view::npos ? LineKind::Damaged : LineKind::Text;
}

constexpr PackGrammar kGrammar{kind, kMaxSide, "a row of another puzzle among icy caves"};

/// A cave being parsed.
class Draft {
 public:
  explicit Draft(const std::vector<Line>& rows) : rows_(rows) {
    for (const Line& row : rows) read_row(row);
  }

  Shape shape() const noexcept { return {static_cast<int>(rows_.size()), static_cast<int>(width_)}; }

  void check(const Pack&) const {
    check_one("player", has_player);
    check_one("goal", has_goal);
    const int opening = first_gap(cells_.data(), shape(), kRock);
    if (opening >= 0) throw error(static_cast<std::size_t>(opening), "expected rocks all around, got an opening here");
  }

  void copy_to(std::uint8_t* out) const { std::copy(cells_.begin(), cells_.end(), out); }

 private:
  void read_row(const Line& row) {
    const std::string_view text = row.text.substr(0, row.text.find_last_not_of(" -_") + 1);
    if (text.size() > kMaxSide) {
      throw error_at(row, kMaxSide, "expected at most 64 columns, got " + std::to_string(text.size()));
    }
    for (std::size_t col = 0; col < text.size(); ++col) {
      const int code = code_of(text[col]);
      if (code < 0) refuse_char(row, col);
      cells_.push_back(static_cast<std::uint8_t>(code));
    }
    if (width_ == 0) width_ = text.size();
    if (text.size() != width_) {
      throw error_at(row, 0,
                     "expected as many columns as in the first row, " + std::to_string(width_) + ", got " +
                         std::to_string(text.size()));
    }
  }

  [[noreturn]] static void refuse_char(const Line& row, std::size_t col) {
    if (row.text[col] == '\t') throw error_at(row, col, "a tab in a row has no defined width; use spaces");
    throw error_at(row, col, "unknown character " + describe_char(row.text, col));
  }

  LevelError error(std::size_t cell, const std::string& what) const {
    return error_at(rows_[cell / width_], cell % width_, what);
  }

  void check_one(const char* what, bool (*is)(std::uint8_t)) const {
    const auto first = std::find_if(cells_.begin(), cells_.end(), is);
    if (first == cells_.end()) throw error(0, std::string("expected one ") + what + ", got none");
    const auto second = std::find_if(first + 1, cells_.end(), is);
    if (second == cells_.end()) return;
    throw error(static_cast<std::size_t>(second - cells_.begin()),
                std::string("expected one ") + what + ", got a second one");
  }

  const std::vector<Line>& rows_;
  std::size_t width_ = 0;
  std::vector<std::uint8_t> cells_;
};

/// Checks the invariants of parse_levels for a caller's state and appends it.
void append_state(std::string& out, const std::uint8_t* state, Shape shape, std::size_t index) {
  check_shape(shape);
  find_player(state, shape, index);
  const int opening = first_gap(state, shape, kRock);
  if (opening >= 0) {
    throw ValueError("states[" + std::to_string(index) + "]: expected rocks (1) all around, got " +
                     std::to_string(state[opening]) + " at " + place_name(opening / shape.cols, opening % shape.cols));
  }
  append_rows(out, state, shape, kSymbols.data());
}

}  // namespace

Pack parse_levels(const Text& text) { return read_pack<Draft>(text, kGrammar); }

/// Only a complete row identifies a cave file: another puzzle's title may begin with a percent sign.
int first_row(const Text& text) { return recommit::first_row(text, owns); }

bool owns(std::string_view line) noexcept {
  const std::string_view row = trimmed(line);
  return row.size() >= 3 && row.front() == kRockSymbol && row.back() == kRockSymbol &&
         std::all_of(row.begin(), row.end(), [](char c) { return code_of(c) >= 0; });
}

bool recognises(const std::uint8_t* state, Shape shape) noexcept {
  return shape.rows >= 3 && shape.cols >= 3 && is_state(state, shape) && first_gap(state, shape, kRock) < 0;
}

std::string format_levels(const Pack& pack, PackFormat format) { return write_pack(pack, format, append_state); }

}  // namespace recommit::ice
