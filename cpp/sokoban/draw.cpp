// The sprites of Sokoban.
#include "sokoban/draw.hpp"

#include <string>

#include "core/draw/canvas.hpp"
#include "core/errors.hpp"
#include "sokoban/simulate.hpp"

namespace recommit::sokoban {
namespace {

struct Palette {
  Color floor, line;                           // the ground and its faint grid
  Color wall, wall_top, joint;                 // bricks
  Color goal;                                  // the target
  Color crate, frame, done, done_frame, mark;  // boxes off and on a goal
  Color body, head, eye;                       // the player
};

constexpr Palette kLight{{240, 235, 225}, {224, 217, 204}, {108, 118, 132}, {128, 139, 154}, {74, 82, 94},
                         {214, 52, 70},   {222, 164, 84},  {150, 96, 36},   {72, 170, 96},   {30, 104, 56},
                         {255, 255, 255}, {38, 98, 196},   {250, 208, 166}, {28, 32, 44}};
constexpr Palette kDark{{34, 38, 46},    {43, 48, 58},   {88, 98, 116},   {110, 121, 141}, {56, 63, 76},
                        {255, 92, 110},  {214, 148, 66}, {124, 76, 24},   {64, 176, 100},  {20, 92, 48},
                        {240, 255, 244}, {84, 160, 255}, {255, 216, 178}, {20, 22, 30}};

const Palette& palette(Theme theme) { return theme == Theme::Light ? kLight : kDark; }

void draw_floor(Canvas& canvas, const Palette& colors) {
  const Box all = canvas.box();
  const int line = canvas.pixels(18, 1);
  if (canvas.width() < 8) return;
  canvas.rect({all.right - line, 0, all.right, all.bottom}, colors.line);
  canvas.rect({0, all.bottom - line, all.right, all.bottom}, colors.line);
}

/// Two courses of bricks with joints; the pattern continues from cell to cell.
void draw_wall(Canvas& canvas, const Palette& colors) {
  const Box all = canvas.box();
  canvas.rect(all, colors.wall);
  if (canvas.width() < 8) return;
  const int joint = canvas.pixels(36, 1), half = canvas.pixels(500, 1),
            lip = canvas.width() < 16 ? 0 : canvas.pixels(55, 1);
  const int quarter = canvas.pixels(250, 1);
  for (const int top : {0, half}) {
    const int bottom = top == 0 ? half : all.bottom;
    canvas.rect({0, top, all.right, top + lip}, colors.wall_top);
    canvas.rect({0, bottom - joint, all.right, bottom}, colors.joint);
    const int at = top == 0 ? quarter : all.right - quarter;
    canvas.rect({at - joint, top, at, bottom}, colors.joint);
  }
}

void draw_goal(Canvas& canvas, const Palette& colors) {
  if (canvas.width() < 10) {
    canvas.rect(canvas.box().inset(canvas.pixels(300, 1)), colors.goal);
  } else if (canvas.width() < 14) {
    canvas.ellipse(canvas.box().inset(canvas.part(230)), colors.goal);
  } else {
    canvas.ring(canvas.box().inset(canvas.part(180)), canvas.part(100), colors.goal);
    canvas.ellipse(canvas.box().inset(canvas.part(400)), colors.goal);
  }
}

/// A crate: planks in a frame with a brace across; on a goal it is green and ticked.
void draw_box(Canvas& canvas, const Palette& colors, bool done) {
  const Color face = done ? colors.done : colors.crate, frame = done ? colors.done_frame : colors.frame;
  const int margin = canvas.width() < 8 ? 0 : canvas.pixels(70, 1), edge = canvas.pixels(85, 1);
  const Box outer = canvas.box().inset(margin), inner = outer.inset(edge);
  canvas.rounded(outer, canvas.width() < 8 ? 0 : canvas.part(80), frame);
  canvas.rounded(inner, canvas.width() < 12 ? 0 : canvas.part(30), face);
  if (canvas.width() < 10) return;
  const int pen = canvas.part(85);
  if (done) {
    const Point left{canvas.part(300), canvas.part(520)}, low{canvas.part(445), canvas.part(660)},
        high{canvas.part(705), canvas.part(360)};
    canvas.segment(left, low, canvas.part(100), colors.mark);
    canvas.segment(low, high, canvas.part(100), colors.mark);
    return;
  }
  canvas.segment({inner.left + pen / 3, inner.top + pen / 3}, {inner.right - pen / 3, inner.bottom - pen / 3}, pen,
                 frame);
  canvas.segment({inner.right - pen / 3, inner.top + pen / 3}, {inner.left + pen / 3, inner.bottom - pen / 3}, pen,
                 frame);
}

/// Head and shoulders. On a goal, the goal's ring shows around the player.
void draw_player(Canvas& canvas, const Palette& colors, bool on_goal) {
  if (on_goal) {
    if (canvas.width() < 10) {
      canvas.rect(canvas.box().inset(canvas.width() < 8 ? 0 : canvas.pixels(60, 1)), colors.goal);
    } else {
      canvas.ring(canvas.box().inset(canvas.part(30)), canvas.part(95), colors.goal);
    }
  }
  if (canvas.width() < 10) {
    canvas.rect(canvas.box().inset(canvas.pixels(240, 1)), colors.body);
    return;
  }
  const auto box = [&](int left, int top, int right, int bottom) {
    return Box{canvas.part(left), canvas.part(top), canvas.part(right), canvas.part(bottom)};
  };
  canvas.rounded(box(220, 510, 780, 880), canvas.part(185), colors.body);
  canvas.ellipse(box(285, 130, 715, 560), colors.head);
  canvas.rounded(box(285, 120, 715, 265), canvas.part(70), colors.body);
  canvas.ellipse(box(385, 320, 465, 425), colors.eye);
  canvas.ellipse(box(535, 320, 615, 425), colors.eye);
}

Canvas draw(int code, int cell, Theme theme) {
  const Palette& colors = palette(theme);
  Canvas canvas(cell, cell, colors.floor);
  draw_floor(canvas, colors);
  if (code == kWall) draw_wall(canvas, colors);
  if (code == kGoal) draw_goal(canvas, colors);
  if (is_box(static_cast<std::uint8_t>(code))) draw_box(canvas, colors, code == kBoxOnGoal);
  if (code == kPlayer || code == kPlayerOnGoal) draw_player(canvas, colors, code == kPlayerOnGoal);
  return canvas;
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
    check_ring(view, states + i * view.cells(), i, kWall, "walls");
  }
}

void check_read(const View& view, const std::uint8_t* states, std::size_t begin, std::size_t end) {
  for (std::size_t i = begin; i < end; ++i) {
    const std::uint8_t* state = states + i * view.cells();
    int players = 0;
    for (int cell = 0; cell < view.grid.cells(); ++cell) {
      if (state[cell] != kPlayer && state[cell] != kPlayerOnGoal) continue;
      if (++players == 1) continue;
      throw ValueError("images: expected one player, got a second one in image " + shown_place(view, i, cell));
    }
    if (players == 0) throw ValueError("images: expected one player, got none in image " + std::to_string(i));
  }
}

}  // namespace recommit::sokoban
