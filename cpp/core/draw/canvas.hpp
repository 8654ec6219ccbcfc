// Colours, boxes, and a canvas that draws shapes in integer arithmetic.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace recommit {

struct Color {
  std::uint8_t r, g, b;
  constexpr bool operator==(const Color&) const = default;
};

/// Blend of a with `percent` of b.
constexpr Color mix(Color a, Color b, int percent) noexcept {
  const auto channel = [percent](int from, int to) {
    return static_cast<std::uint8_t>((from * (100 - percent) + to * percent + 50) / 100);
  };
  return {channel(a.r, b.r), channel(a.g, b.g), channel(a.b, b.b)};
}

struct Point {
  int x, y;
};

/// Half open: left <= x < right, top <= y < bottom.
struct Box {
  int left, top, right, bottom;
  constexpr int width() const noexcept { return right - left; }
  constexpr int height() const noexcept { return bottom - top; }
  /// The box shrunk by `by` on each side.
  constexpr Box inset(int by) const noexcept { return {left + by, top + by, right - by, bottom - by}; }
  constexpr Box scaled(int by) const noexcept { return {left * by, top * by, right * by, bottom * by}; }
  constexpr Box moved(int dx, int dy) const noexcept { return {left + dx, top + dy, right + dx, bottom + dy}; }
};

/// An RGB picture with anti-aliased shapes. Coordinates are 1/64 px, each pixel is covered by 8x8 samples, and every
/// step is integer arithmetic, so the same calls leave the same bytes on every platform. Shapes are clipped to the
/// picture. Not thread-safe.
class Canvas {
 public:
  static constexpr int kPixel = 64;   ///< units per pixel
  static constexpr int kSamples = 8;  ///< samples per pixel and axis

  Canvas(int width, int height, Color background);

  int width() const noexcept { return width_; }
  int height() const noexcept { return height_; }
  const std::uint8_t* data() const noexcept { return pixels_.data(); }
  /// `thousandths` of the picture's width, in units.
  int part(int thousandths) const noexcept { return width_ * kPixel * thousandths / 1000; }
  /// The same in whole pixels, at least `least`: for sharp edges.
  int pixels(int thousandths, int least) const noexcept {
    const int whole = (width_ * thousandths + 500) / 1000;
    return (whole < least ? least : whole) * kPixel;
  }
  Box box() const noexcept { return {0, 0, width_ * kPixel, height_ * kPixel}; }

  void rect(Box box, Color color);
  void rounded(Box box, int radius, Color color);
  void ellipse(Box box, Color color);
  /// A circular outline of the given thickness, measured inwards from the box.
  void ring(Box box, int thickness, Color color);
  /// A line with round ends.
  void segment(Point from, Point to, int thickness, Color color);
  /// A convex polygon; the points in either order of rotation.
  void polygon(std::span<const Point> points, Color color);

  /// Paints every sample for which inside(x, y) holds; convex shapes need fewer evaluations.
  template <class Inside>
  void paint(Box bounds, bool convex, Color color, const Inside& inside);

 private:
  void blend(int x, int y, int samples, Color color) noexcept;

  int width_, height_;
  std::vector<std::uint8_t> pixels_;
};

template <class Inside>
void Canvas::paint(Box bounds, bool convex, Color color, const Inside& inside) {
  constexpr int step = kPixel / kSamples, first = step / 2, last = kPixel - 1 - (step - 1) / 2;
  const int left = bounds.left < 0 ? 0 : bounds.left / kPixel, top = bounds.top < 0 ? 0 : bounds.top / kPixel;
  for (int y = top; y < height_ && y * kPixel < bounds.bottom; ++y) {
    for (int x = left; x < width_ && x * kPixel < bounds.right; ++x) {
      const int x0 = x * kPixel, y0 = y * kPixel;
      if (convex && inside(x0 + first, y0 + first) && inside(x0 + last, y0 + first) && inside(x0 + first, y0 + last) &&
          inside(x0 + last, y0 + last)) {
        blend(x, y, kSamples * kSamples, color);
        continue;
      }
      int samples = 0;
      for (int dy = first; dy < kPixel; dy += step) {
        for (int dx = first; dx < kPixel; dx += step) samples += inside(x0 + dx, y0 + dy) ? 1 : 0;
      }
      blend(x, y, samples, color);
    }
  }
}

}  // namespace recommit
