// The grammar of boards: numbers to cells and back.
#include "sliding/level_text.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "core/errors.hpp"
#include "sliding/simulate.hpp"

namespace recommit::sliding {
namespace {

constexpr std::string_view kSokobanSymbols = "#@+$*.";

LineKind kind(std::string_view line) noexcept {
  const char first = line[first_symbol(line)];
  if (is_digit(first)) return LineKind::Row;
  return kSokobanSymbols.find(first) != std::string_view::npos ? LineKind::Foreign : LineKind::Text;
}

constexpr PackGrammar kGrammar{kind, kMaxSide, "a row of Sokoban symbols among sliding boards"};

std::string name(Shape shape) { return std::to_string(shape.rows) + " by " + std::to_string(shape.cols); }

struct Number {
  int value;
  Line line;
  std::size_t index;  // of its first digit
};

/// A board being parsed.
class Draft {
 public:
  explicit Draft(const std::vector<Line>& rows) : rows_(static_cast<int>(rows.size())) {
    for (const Line& row : rows) read_row(row);
  }

  Shape shape() const noexcept { return {rows_, cols_}; }

  void check(const Pack& before) const {
    if (rows_ < kMinSide || cols_ < kMinSide) {
      throw error(numbers_[0], "expected 2..5 rows and 2..5 columns, got " + std::to_string(rows_) + " and " +
                                   std::to_string(cols_));
    }
    check_permutation();
    if (!before.shapes.empty()) check_same(before.shapes.front());
  }

  void copy_to(std::uint8_t* out) const noexcept {
    for (int i = 0; i < count_; ++i) *out++ = static_cast<std::uint8_t>(numbers_[static_cast<std::size_t>(i)].value);
  }

 private:
  static LevelError error(const Number& number, const std::string& what) {
    return error_at(number.line, number.index, what);
  }

  void read_row(const Line& row) {
    const int begin = count_;
    for (std::size_t i = 0; i < row.text.size();) {
      if (row.text[i] == ' ') {
        ++i;
      } else {
        i = read_number(row, i, begin);
      }
    }
    if (begin == 0) cols_ = count_;
    if (count_ - begin != cols_) {
      throw error(numbers_[static_cast<std::size_t>(begin)], "expected as many numbers as in the first row, " +
                                                                 std::to_string(cols_) + ", got " +
                                                                 std::to_string(count_ - begin));
    }
  }

  /// Reads the number at `begin` and returns the index behind it.
  std::size_t read_number(const Line& row, std::size_t begin, int row_begin) {
    std::size_t end = begin;
    while (end < row.text.size() && is_digit(row.text[end])) ++end;
    if (end == begin) refuse_char(row, begin);
    if (end - begin > 2) {
      throw error_at(row, begin,
                     "expected a number of one or two digits, got " + std::to_string(end - begin) + " digits");
    }
    if (count_ - row_begin == kMaxSide) throw error_at(row, begin, "expected at most 5 numbers in a row, got more");
    int value = 0;
    for (std::size_t i = begin; i < end; ++i) value = 10 * value + (row.text[i] - '0');
    numbers_[static_cast<std::size_t>(count_++)] = {value, row, begin};
    return end;
  }

  [[noreturn]] static void refuse_char(const Line& row, std::size_t at) {
    if (row.text[at] == '\t') throw error_at(row, at, "a tab in a row is not allowed; use spaces");
    throw error_at(row, at, "unknown character " + describe_char(row.text, at));
  }

  void check_same(Shape first) const {
    if (shape() == first) return;
    throw error(numbers_[0], "expected boards of one size in a text, got " + name(shape()) + " after " + name(first));
  }

  void check_permutation() const {
    std::uint32_t seen = 0;
    for (int i = 0; i < count_; ++i) {
      const Number& number = numbers_[static_cast<std::size_t>(i)];
      const std::string each = "expected each of 0.." + std::to_string(count_ - 1) + " once, got ";
      if (number.value >= count_) throw error(number, each + std::to_string(number.value));
      if ((seen >> number.value & 1) != 0) throw error(number, each + std::to_string(number.value) + " twice");
      seen |= std::uint32_t{1} << number.value;
    }
  }

  int rows_, cols_ = 0, count_ = 0;
  std::array<Number, kMaxCells> numbers_{};
};

void append_rows(std::string& out, const std::uint8_t* state, Shape shape) {
  const std::size_t width = std::to_string(shape.cells() - 1).size();
  for (int row = 0; row < shape.rows; ++row) {
    for (int col = 0; col < shape.cols; ++col) {
      const std::string number = std::to_string(*state++);
      out.append(width - number.size() + (col > 0), ' ').append(number);
    }
    out += '\n';
  }
}

void append_board(std::string& out, const std::uint8_t* state, Shape shape, Shape first, std::size_t index) {
  check_shape(shape);
  if (shape != first) {
    throw ValueError("states[" + std::to_string(index) + "]: expected boards of one size, got " + name(shape) +
                     " after " + name(first));
  }
  find_blank(state, shape, index);
  append_rows(out, state, shape);
}

}  // namespace

Pack parse_levels(const Text& text) { return read_pack<Draft>(text, kGrammar); }

int first_row(const Text& text) { return recommit::first_row(text, is_number_row); }

bool owns(std::string_view line) noexcept { return is_number_row(line); }

/// Other puzzles have few cell codes, with many cells of each.
bool recognises(const std::uint8_t* state, Shape shape) noexcept {
  constexpr std::uint8_t kFewCodes = 7;
  const std::uint8_t* end = state + shape.cells();
  if (std::any_of(state, end, [](std::uint8_t cell) { return cell >= kFewCodes; })) return true;
  std::uint32_t seen = 0;
  for (const std::uint8_t* cell = state; cell != end; ++cell) seen |= std::uint32_t{1} << *cell;
  return shape.cells() > 0 && shape.cells() <= kFewCodes && seen == (std::uint32_t{1} << shape.cells()) - 1;
}

std::string format_levels(const Pack& pack, PackFormat format) {
  return write_pack(pack, format, [&](std::string& out, const std::uint8_t* state, Shape shape, std::size_t index) {
    append_board(out, state, shape, pack.shapes.front(), index);
  });
}

}  // namespace recommit::sliding
