// Three bitmap fonts, and drawing of numbers.
#include "core/draw/glyphs.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace recommit {
namespace {

constexpr int kWide = 44, kHigh = 64;
constexpr std::uint64_t kBits[10][kHigh] = {
#include "core/draw/digits.inc"
};

/// The small fonts, one octal or binary digit group per row, top row first.
constexpr std::uint8_t k3x5[10][5] = {
    {7, 5, 5, 5, 7}, {2, 6, 2, 2, 7}, {7, 1, 7, 4, 7}, {7, 1, 3, 1, 7}, {5, 5, 7, 1, 1},
    {7, 4, 7, 1, 7}, {7, 4, 7, 5, 7}, {7, 1, 1, 2, 2}, {7, 5, 7, 5, 7}, {7, 5, 7, 1, 7},
};
constexpr std::uint8_t k5x7[10][7] = {
    {0b01110, 0b11011, 0b11011, 0b11011, 0b11011, 0b11011, 0b01110},
    {0b00110, 0b01110, 0b00110, 0b00110, 0b00110, 0b00110, 0b01111},
    {0b11110, 0b00011, 0b00011, 0b01110, 0b11000, 0b11000, 0b11111},
    {0b11110, 0b00011, 0b00011, 0b01110, 0b00011, 0b00011, 0b11110},
    {0b00110, 0b01110, 0b11010, 0b10010, 0b11111, 0b00010, 0b00010},
    {0b11111, 0b11000, 0b11110, 0b00011, 0b00011, 0b11011, 0b01110},
    {0b01110, 0b11000, 0b11110, 0b11011, 0b11011, 0b11011, 0b01110},
    {0b11111, 0b00011, 0b00011, 0b00110, 0b00110, 0b01100, 0b01100},
    {0b01110, 0b11011, 0b11011, 0b01110, 0b11011, 0b11011, 0b01110},
    {0b01110, 0b11011, 0b11011, 0b11011, 0b01111, 0b00011, 0b01110},
};

/// Number of set bits among the 5x5 around each bit, with a margin of zeros: the contour at one half is a smooth
/// outline of the digit.
class Field {
 public:
  static constexpr int kBlur = 2, kFull = 25, kMargin = 4, kOne = 256;

  explicit Field(const std::uint64_t (&bits)[kHigh]) {
    for (int y = 0; y < kRows; ++y) {
      for (int x = 0; x < kCols; ++x) {
        for (int dy = -kBlur; dy <= kBlur; ++dy) {
          for (int dx = -kBlur; dx <= kBlur; ++dx) cells_[at(x, y)] += bit(bits, x - kMargin + dx, y - kMargin + dy);
        }
      }
    }
  }

  /// True if the point, in 1/256 of a bit from the digit's top left corner, is ink.
  bool ink(int x, int y) const noexcept {
    x += kMargin * kOne - kOne / 2;
    y += kMargin * kOne - kOne / 2;
    const int col = x / kOne, row = y / kOne, fx = x % kOne, fy = y % kOne;
    if (x < 0 || y < 0 || col + 1 >= kCols || row + 1 >= kRows) return false;
    const auto line = [&](int r) { return cells_[at(col, r)] * (kOne - fx) + cells_[at(col + 1, r)] * fx; };
    return 2 * (line(row) * (kOne - fy) + line(row + 1) * fy) >= kFull * kOne * kOne;
  }

 private:
  static constexpr int kCols = kWide + 2 * kMargin, kRows = kHigh + 2 * kMargin;
  static constexpr std::size_t at(int x, int y) noexcept { return static_cast<std::size_t>(y * kCols + x); }
  static std::uint8_t bit(const std::uint64_t (&bits)[kHigh], int x, int y) noexcept {
    return x >= 0 && x < kWide && y >= 0 && y < kHigh && (bits[y] >> (kWide - 1 - x) & 1) != 0 ? 1 : 0;
  }
  std::array<std::uint8_t, static_cast<std::size_t>(kCols* kRows)> cells_{};
};

const Field& field(int digit) {
  static const std::array<Field, 10> fields = {Field(kBits[0]), Field(kBits[1]), Field(kBits[2]), Field(kBits[3]),
                                               Field(kBits[4]), Field(kBits[5]), Field(kBits[6]), Field(kBits[7]),
                                               Field(kBits[8]), Field(kBits[9])};
  return fields[static_cast<std::size_t>(digit)];
}

void draw_smooth(Canvas& canvas, int digit, Box box, Color color) {
  const Field& shape = field(digit);
  canvas.paint(box, false, color, [&](int x, int y) {
    return shape.ink((x - box.left) * kWide * Field::kOne / box.width(),
                     (y - box.top) * kHigh * Field::kOne / box.height());
  });
}

template <std::size_t Rows>
void draw_dots(Canvas& canvas, const std::uint8_t (&rows)[Rows], int cols, int left, int top, Color color) {
  for (int y = 0; y < static_cast<int>(Rows); ++y) {
    for (int x = 0; x < cols; ++x) {
      if (rows[y] >> (cols - 1 - x) & 1) {
        canvas.rect(Box{left + x, top + y, left + x + 1, top + y + 1}.scaled(Canvas::kPixel), color);
      }
    }
  }
}

/// The digits of a number, most significant first.
struct Digits {
  explicit Digits(int number) : count(number >= 10 ? 2 : 1), digit{number >= 10 ? number / 10 : number, number % 10} {}
  int count;
  int digit[2];
};

bool draw_pixels(Canvas& canvas, const Digits& number, Box box, Color color) {
  const int left = (box.left + Canvas::kPixel - 1) / Canvas::kPixel, right = box.right / Canvas::kPixel;
  const int top = (box.top + Canvas::kPixel - 1) / Canvas::kPixel, bottom = box.bottom / Canvas::kPixel;
  // All numbers of one box size use the same font, so two digits must fit even for a single one.
  const bool large = right - left >= 13 && bottom - top >= 11;
  const int wide = large ? 5 : 3, high = large ? 7 : 5, total = number.count * (wide + 1) - 1;
  if (right - left < total + 2 || bottom - top < high + 2) return false;
  int x = left + (right - left - total) / 2;
  const int y = top + (bottom - top - high) / 2;
  for (int i = 0; i < number.count; ++i, x += wide + 1) {
    if (large) draw_dots(canvas, k5x7[number.digit[i]], wide, x, y, color);
    if (!large) draw_dots(canvas, k3x5[number.digit[i]], wide, x, y, color);
  }
  return true;
}

}  // namespace

bool draw_number(Canvas& canvas, int number, Box box, Color color) {
  constexpr int smallest = 22 * Canvas::kPixel;  // below it the large font is illegible
  const Digits digits(number);
  if (std::min(box.width(), box.height()) < smallest) return draw_pixels(canvas, digits, box, color);
  const int high = std::min(box.width(), box.height()) * 54 / 100 / Canvas::kPixel * Canvas::kPixel;
  const int wide = high * kWide / kHigh, gap = high / 11;
  int x = (box.left + box.right - digits.count * wide - (digits.count - 1) * gap) / 2;
  const int y = (box.top + box.bottom - high) / 2 / Canvas::kPixel * Canvas::kPixel;
  for (int i = 0; i < digits.count; ++i, x += wide + gap) {
    draw_smooth(canvas, digits.digit[i], {x, y, x + wide, y + high}, color);
  }
  return true;
}

}  // namespace recommit
