// The sprites of the icy cave.
#include "ice/draw.hpp"

#include <array>
#include <string>

#include "core/draw/canvas.hpp"
#include "core/errors.hpp"
#include "ice/simulate.hpp"

namespace recommit::ice {
namespace {

struct Palette {
  Color ice, line, shine;               // the ground, its faint grid, and the gleam on it
  Color rock, face, crack;              // rocks
  Color flag, pole, foot;               // the goal
  Color coat, belly, beak, eye, pupil;  // the player, a penguin
};

constexpr Palette kLight{{216, 236, 248}, {196, 222, 238}, {244, 251, 255}, {82, 96, 118},   {122, 138, 160},
                         {62, 74, 94},    {220, 48, 66},   {84, 74, 70},    {170, 196, 214}, {34, 42, 66},
                         {255, 255, 255}, {244, 152, 32},  {255, 255, 255}, {34, 42, 66}};
constexpr Palette kDark{{26, 44, 62},    {34, 55, 76},   {58, 88, 114},   {70, 78, 92}, {104, 114, 130},
                        {48, 54, 66},    {255, 84, 104}, {206, 190, 178}, {48, 74, 98}, {150, 172, 206},
                        {246, 250, 255}, {255, 176, 64}, {255, 255, 255}, {18, 24, 36}};

const Palette& palette(Theme theme) { return theme == Theme::Light ? kLight : kDark; }

/// Boxes and points of a canvas in thousandths of its width.
class Frame {
 public:
  explicit Frame(const Canvas& canvas) : canvas_(canvas) {}
  Box box(int left, int top, int right, int bottom) const {
    return {canvas_.part(left), canvas_.part(top), canvas_.part(right), canvas_.part(bottom)};
  }
  Point point(int x, int y) const { return {canvas_.part(x), canvas_.part(y)}; }

 private:
  const Canvas& canvas_;
};

void draw_ice(Canvas& canvas, const Palette& colors) {
  if (canvas.width() < 8) return;
  const Box all = canvas.box();
  const int line = canvas.pixels(18, 1);
  canvas.rect({all.right - line, 0, all.right, all.bottom}, colors.line);
  canvas.rect({0, all.bottom - line, all.right, all.bottom}, colors.line);
  if (canvas.width() < 14) return;
  const Frame at(canvas);
  canvas.segment(at.point(180, 420), at.point(400, 200), canvas.part(45), colors.shine);
  canvas.segment(at.point(330, 430), at.point(420, 340), canvas.part(45), colors.shine);
}

/// A boulder on dark ground, so that adjacent rocks form one wall.
void draw_rock(Canvas& canvas, const Palette& colors) {
  canvas.rect(canvas.box(), colors.rock);
  if (canvas.width() < 8) return;
  const Frame at(canvas);
  const std::array<Point, 6> face{at.point(90, 380),  at.point(300, 90),  at.point(720, 70),
                                  at.point(920, 330), at.point(800, 700), at.point(190, 720)};
  canvas.polygon(face, colors.face);
  if (canvas.width() < 14) return;
  canvas.segment(at.point(560, 100), at.point(480, 340), canvas.part(40), colors.crack);
  canvas.segment(at.point(480, 340), at.point(600, 520), canvas.part(40), colors.crack);
  canvas.segment(at.point(150, 850), at.point(860, 850), canvas.part(50), colors.crack);
}

void draw_goal(Canvas& canvas, const Palette& colors) {
  if (canvas.width() < 10) {
    canvas.rect(canvas.box().inset(canvas.pixels(260, 1)), colors.flag);
    return;
  }
  const Frame at(canvas);
  canvas.ellipse(at.box(190, 770, 610, 930), colors.foot);
  canvas.segment(at.point(390, 170), at.point(390, 850), canvas.part(75), colors.pole);
  const std::array<Point, 3> pennant{at.point(420, 130), at.point(880, 310), at.point(420, 500)};
  canvas.polygon(pennant, colors.flag);
}

/// A penguin. On the goal, a band of the flag's colour runs around it.
void draw_player(Canvas& canvas, const Palette& colors, bool on_goal) {
  if (on_goal) {
    const Box all = canvas.box();
    const int margin = canvas.width() < 8 ? 0 : canvas.pixels(40, 1);
    canvas.rounded(all.inset(margin), canvas.width() < 10 ? 0 : canvas.part(200), colors.flag);
    if (canvas.width() >= 10) canvas.rounded(all.inset(margin + canvas.pixels(90, 1)), canvas.part(130), colors.ice);
  }
  if (canvas.width() < 10) {
    canvas.rect(canvas.box().inset(canvas.pixels(240, 1)), colors.coat);
    return;
  }
  const Frame at(canvas);
  canvas.ellipse(at.box(250, 800, 490, 920), colors.beak);
  canvas.ellipse(at.box(510, 800, 750, 920), colors.beak);
  canvas.rounded(at.box(235, 110, 765, 880), canvas.part(260), colors.coat);
  canvas.ellipse(at.box(310, 420, 690, 860), colors.belly);
  canvas.ellipse(at.box(335, 205, 495, 395), colors.eye);
  canvas.ellipse(at.box(505, 205, 665, 395), colors.eye);
  canvas.ellipse(at.box(400, 260, 475, 350), colors.pupil);
  canvas.ellipse(at.box(525, 260, 600, 350), colors.pupil);
  const std::array<Point, 3> beak{at.point(415, 380), at.point(585, 380), at.point(500, 490)};
  canvas.polygon(beak, colors.beak);
}

Canvas draw(int code, int cell, Theme theme) {
  const Palette& colors = palette(theme);
  Canvas canvas(cell, cell, colors.ice);
  draw_ice(canvas, colors);
  if (code == kRock) draw_rock(canvas, colors);
  if (code == kGoal) draw_goal(canvas, colors);
  if (code == kPlayer || code == kPlayerOnGoal) draw_player(canvas, colors, code == kPlayerOnGoal);
  return canvas;
}

/// Throws unless the picture has exactly one cell of this kind.
void check_one(const View& view, const std::uint8_t* state, std::size_t index, const char* what,
               bool (*is)(std::uint8_t)) {
  int seen = 0;
  for (int cell = 0; cell < view.grid.cells(); ++cell) {
    if (!is(state[cell]) || ++seen == 1) continue;
    throw ValueError(std::string("images: expected one ") + what + ", got a second one in image " +
                     shown_place(view, index, cell));
  }
  if (seen == 0) {
    throw ValueError(std::string("images: expected one ") + what + ", got none in image " + std::to_string(index));
  }
}

}  // namespace

const Sprites& sprites() {
  static constexpr Sprites all{kCells, draw};
  return all;
}

View view(Shape grid, bool crop) {
  check_shape(grid);
  return crop ? cropped(grid) : View{grid};
}

void check_drawable(const View& view, const std::uint8_t* states, std::size_t begin, std::size_t end) {
  for (std::size_t i = begin; i < end; ++i) {
    find_player(states + i * view.cells(), view.grid, i);
    check_ring(view, states + i * view.cells(), i, kRock, "rocks");
  }
}

void check_read(const View& view, const std::uint8_t* states, std::size_t begin, std::size_t end) {
  for (std::size_t i = begin; i < end; ++i) {
    check_one(view, states + i * view.cells(), i, "player", has_player);
    check_one(view, states + i * view.cells(), i, "goal", has_goal);
  }
}

}  // namespace recommit::ice
