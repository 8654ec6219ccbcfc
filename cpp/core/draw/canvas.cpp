// Shapes on a canvas, in integer arithmetic with smooth edges.
#include "core/draw/canvas.hpp"

#include <algorithm>

namespace recommit {
namespace {

constexpr std::int64_t square(std::int64_t value) noexcept { return value * value; }

/// Distance of `at` from the interval low..high.
constexpr std::int64_t beyond(int at, int low, int high) noexcept {
  return at < low ? low - at : at > high ? at - high : 0;
}

}  // namespace

Canvas::Canvas(int width, int height, Color background)
    : width_(width), height_(height), pixels_(static_cast<std::size_t>(width) * static_cast<std::size_t>(height) * 3) {
  for (std::size_t i = 0; i < pixels_.size(); i += 3) {
    pixels_[i] = background.r;
    pixels_[i + 1] = background.g;
    pixels_[i + 2] = background.b;
  }
}

void Canvas::blend(int x, int y, int samples, Color color) noexcept {
  constexpr int all = kSamples * kSamples;
  std::uint8_t* pixel =
      &pixels_[(static_cast<std::size_t>(y) * static_cast<std::size_t>(width_) + static_cast<std::size_t>(x)) * 3];
  const auto channel = [samples](int from, int to) {
    return static_cast<std::uint8_t>((from * (all - samples) + to * samples + all / 2) / all);
  };
  pixel[0] = channel(pixel[0], color.r);
  pixel[1] = channel(pixel[1], color.g);
  pixel[2] = channel(pixel[2], color.b);
}

void Canvas::rect(Box box, Color color) { rounded(box, 0, color); }

void Canvas::rounded(Box box, int radius, Color color) {
  const int r = std::clamp(radius, 0, std::min(box.width(), box.height()) / 2);
  paint(box, true, color, [=](int x, int y) {
    if (x < box.left || x >= box.right || y < box.top || y >= box.bottom) return false;
    return square(beyond(x, box.left + r, box.right - r)) + square(beyond(y, box.top + r, box.bottom - r)) <=
               square(r) ||
           r == 0;
  });
}

void Canvas::ellipse(Box box, Color color) {
  const std::int64_t w = box.width(), h = box.height();
  paint(box, true, color, [=](int x, int y) {
    const std::int64_t dx = 2 * x - box.left - box.right, dy = 2 * y - box.top - box.bottom;
    return square(dx * h) + square(dy * w) <= square(w * h);
  });
}

void Canvas::ring(Box box, int thickness, Color color) {
  const std::int64_t outer = box.width(), inner = std::max(0, box.width() - 2 * thickness);
  paint(box, false, color, [=](int x, int y) {
    const std::int64_t far = square(2 * x - box.left - box.right) + square(2 * y - box.top - box.bottom);
    return far <= square(outer) && far >= square(inner);
  });
}

void Canvas::segment(Point from, Point to, int thickness, Color color) {
  const int r = (thickness + 1) / 2;
  const std::int64_t dx = to.x - from.x, dy = to.y - from.y, length2 = dx * dx + dy * dy;
  const Box bounds{std::min(from.x, to.x) - r, std::min(from.y, to.y) - r, std::max(from.x, to.x) + r + 1,
                   std::max(from.y, to.y) + r + 1};
  paint(bounds, true, color, [=](int x, int y) {
    const std::int64_t px = x - from.x, py = y - from.y, along = px * dx + py * dy;
    if (along <= 0) return 4 * (px * px + py * py) <= square(thickness);
    if (along >= length2) return 4 * (square(x - to.x) + square(y - to.y)) <= square(thickness);
    return 4 * square(px * dy - py * dx) <= square(thickness) * length2;
  });
}

void Canvas::polygon(std::span<const Point> points, Color color) {
  Box bounds{points[0].x, points[0].y, points[0].x, points[0].y};
  for (const Point& p : points) {
    bounds = {std::min(bounds.left, p.x), std::min(bounds.top, p.y), std::max(bounds.right, p.x),
              std::max(bounds.bottom, p.y)};
  }
  paint(bounds, true, color, [points](int x, int y) {
    bool left = false, right = false;
    for (std::size_t i = 0; i < points.size(); ++i) {
      const Point a = points[i], b = points[(i + 1) % points.size()];
      const std::int64_t side = std::int64_t{b.x - a.x} * (y - a.y) - std::int64_t{b.y - a.y} * (x - a.x);
      left = left || side < 0;
      right = right || side > 0;
    }
    return !(left && right);
  });
}

}  // namespace recommit
