// Pictures and sprites against their definition, pixel by pixel.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "check.hpp"
#include "core/draw/canvas.hpp"
#include "core/draw/frame.hpp"
#include "core/draw/glyphs.hpp"
#include "core/draw/patches.hpp"
#include "core/errors.hpp"
#include "core/rng.hpp"
#include "sliding/draw.hpp"
#include "sokoban/draw.hpp"

using namespace recommit;

namespace {

constexpr Color kBlack{0, 0, 0}, kWhite{255, 255, 255};

/// Grids of any codes at all: the drawing itself does not care what makes a state.
std::vector<std::uint8_t> random_codes(std::size_t count, int codes, std::uint64_t seed) {
  Rng rng(seed, Purpose::Test, 0);
  std::vector<std::uint8_t> out(count);
  for (auto& code : out) code = static_cast<std::uint8_t>(rng.below(static_cast<std::uint32_t>(codes)));
  return out;
}

/// Pixel by pixel, from the definition.
std::vector<std::uint8_t> slowly(const Atlas& atlas, const View& view, const std::vector<std::uint8_t>& states,
                                 std::size_t count) {
  const auto cell = static_cast<std::size_t>(atlas.cell());
  std::vector<std::uint8_t> out;
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t y = 0; y < static_cast<std::size_t>(view.rows()) * cell; ++y) {
      for (std::size_t x = 0; x < static_cast<std::size_t>(view.cols()) * cell; ++x) {
        const std::uint8_t code = states[i * view.cells() + view.at(static_cast<int>(y / cell)) + x / cell];
        for (std::size_t c = 0; c < 3; ++c)
          out.push_back(atlas.sprite(code)[y % cell * atlas.stride() + x % cell * 3 + c]);
      }
    }
  }
  return out;
}

struct Case {
  Shape grid;
  int border, cell;
};
const Case kCases[] = {{{2, 2}, 0, 4},   {{2, 3}, 0, 5},  {{5, 2}, 0, 10},   {{3, 3}, 1, 4},
                       {{4, 7}, 1, 11},  {{8, 8}, 0, 28}, {{10, 10}, 1, 28}, {{3, 5}, 0, 56},
                       {{2, 2}, 0, 112}, {{1, 64}, 0, 7}, {{3, 4}, 0, 43}};

}  // namespace

TEST(shapes_cover_what_they_should) {
  Canvas canvas(4, 4, kBlack);
  canvas.rect({0, 0, 2 * Canvas::kPixel, 4 * Canvas::kPixel}, kWhite);
  canvas.rect({2 * Canvas::kPixel, 0, 2 * Canvas::kPixel + Canvas::kPixel / 2, 4 * Canvas::kPixel}, kWhite);
  for (std::size_t y = 0; y < 4; ++y) {
    CHECK(canvas.data()[y * 12] == 255 && canvas.data()[y * 12 + 3] == 255);
    CHECK(canvas.data()[y * 12 + 6] == 128);  // half covered
    CHECK(canvas.data()[y * 12 + 9] == 0);
  }
}

TEST(round_shapes_are_symmetric_and_of_the_right_size) {
  constexpr int side = 41;
  for (int kind = 0; kind < 3; ++kind) {
    Canvas canvas(side, side, kBlack);
    const Box box = canvas.box().inset(5 * Canvas::kPixel);
    if (kind == 0) canvas.ellipse(box, kWhite);
    if (kind == 1) canvas.rounded(box, 7 * Canvas::kPixel, kWhite);
    if (kind == 2) canvas.ring(box, 4 * Canvas::kPixel, kWhite);
    long long ink = 0;
    const auto at = [&](int x, int y) { return canvas.data()[(y * side + x) * 3]; };
    for (int y = 0; y < side; ++y) {
      for (int x = 0; x < side; ++x) {
        ink += at(x, y);
        CHECK(at(x, y) == at(side - 1 - x, y) && at(x, y) == at(x, side - 1 - y) && at(x, y) == at(y, x));
      }
    }
    // pi r^2; side^2 - (4 - pi) r^2; pi (R^2 - r^2), for R = 15.5, r = 7 or 11.5
    const double expected = kind == 0 ? 754.8 : kind == 1 ? 961 - 42.1 : 754.8 - 415.5;
    CHECK(static_cast<double>(ink) / 255 > expected * 0.995 && static_cast<double>(ink) / 255 < expected * 1.005);
  }
}

TEST(shapes_may_leave_the_canvas) {
  Canvas canvas(8, 8, kBlack);
  canvas.ellipse({-900, -900, 300, 300}, kWhite);
  canvas.segment({-500, 200}, {2000, 200}, 64, kWhite);
  const Point corner[] = {{-64, -64}, {128, -64}, {-64, 128}};
  canvas.polygon(corner, kWhite);
  CHECK(canvas.data()[0] == 255);
}

TEST(numbers_differ_wherever_they_are_drawn) {
  for (int cell = 11; cell <= 112; ++cell) {
    std::set<std::string> seen;
    for (int number = 1; number <= 24; ++number) {
      Canvas canvas(cell, cell, kBlack);
      CHECK(draw_number(canvas, number, canvas.box(), kWhite));
      seen.emplace(reinterpret_cast<const char*>(canvas.data()), static_cast<std::size_t>(cell * cell * 3));
    }
    CHECK(seen.size() == 24);
  }
  Canvas tiny(4, 4, kBlack);
  CHECK(!draw_number(tiny, 8, tiny.box(), kWhite));
  CHECK(std::all_of(tiny.data(), tiny.data() + 48, [](std::uint8_t value) { return value == 0; }));
}

TEST(sprites_differ_at_every_size_in_every_theme) {
  for (const Sprites& sprites : {sliding::sprites(), sokoban::sprites()}) {
    for (const Theme theme : kThemes) {
      for (int cell = kMinCell; cell <= kMaxCell; ++cell) {
        const Atlas drawn(sprites, cell, theme);
        std::set<std::string> seen;
        for (std::size_t code = 0; code < static_cast<std::size_t>(sprites.codes); ++code) {
          seen.emplace(reinterpret_cast<const char*>(drawn.sprite(static_cast<std::uint8_t>(code))),
                       drawn.stride() * static_cast<std::size_t>(cell));
        }
        CHECK(seen.size() == static_cast<std::size_t>(sprites.codes));
      }
    }
  }
  CHECK_THROWS(atlas(sliding::sprites(), 3, Theme::Light), ValueError);
  CHECK_THROWS(atlas(sliding::sprites(), 113, Theme::Light), ValueError);
  CHECK_THROWS(theme_named("pink"), ValueError);
}

TEST(every_way_of_drawing_leaves_the_same_bytes_and_touches_no_others) {
  for (const auto& [grid, border, cell] : kCases) {
    const View view{grid, border};
    const auto sprites = atlas(sokoban::sprites(), cell, Theme::Dark);
    const std::size_t count = 5, bytes = view.bytes(cell);
    const auto states = random_codes(count * view.cells(), 7, 1);
    const auto expected = slowly(*sprites, view, states, count);
    for (std::size_t shift = 0; shift < 64; shift += shift < 4 ? 1 : 13) {
      for (int way = 0; way < 3; ++way) {
        std::vector<std::uint8_t> room(count * bytes + 256, 0xa5);
        std::uint8_t* images = room.data() + 64 + shift;
        if (way == 0) draw_frames_plain(*sprites, view, states.data(), images, 1, 4);
        if (way > 0) draw_frames(*sprites, view, states.data(), images, way == 2, 1, 4);
        CHECK(std::memcmp(images + bytes, expected.data() + bytes, 3 * bytes) == 0);
        const auto untouched = [](std::uint8_t value) { return value == 0xa5; };
        CHECK(std::all_of(room.data(), images + bytes, untouched));
        CHECK(std::all_of(images + 4 * bytes, room.data() + room.size(), untouched));
      }
    }
  }
}

TEST(redrawing_changed_cells_equals_drawing_anew) {
  for (const auto& [grid, border, cell] : kCases) {
    const View view{grid, border};
    const auto sprites = atlas(sokoban::sprites(), cell, Theme::Light);
    const std::size_t count = 4;
    auto states = random_codes(count * view.cells(), 7, 2);
    std::vector<std::uint8_t> drawn = states, images = slowly(*sprites, view, states, count);
    Rng rng(5, Purpose::Test, 1);
    for (int round = 0; round < 6; ++round) {
      for (std::uint32_t k = rng.below(5); k > 0; --k) {
        const auto row = static_cast<int>(rng.below(static_cast<std::uint32_t>(view.rows())));
        const std::size_t at =
            rng.below(4) * view.cells() + view.at(row) + rng.below(static_cast<std::uint32_t>(view.cols()));
        states[at] = static_cast<std::uint8_t>((states[at] + 1) % 7);
      }
      redraw_frames(*sprites, view, states.data(), drawn.data(), images.data(), 0, count);
      CHECK(drawn == states);
      CHECK(images == slowly(*sprites, view, states, count));
    }
  }
}

TEST(pictures_are_read_back_and_a_wrong_pixel_is_found) {
  const View view{{5, 6}, 1};
  const auto sprites = atlas(sokoban::sprites(), 9, Theme::Light);
  auto states = random_codes(3 * view.cells(), 7, 3);
  for (std::size_t i = 0; i < states.size(); ++i) {
    const std::size_t row = i % 30 / 6, col = i % 6;
    if (row == 0 || row == 4 || col == 0 || col == 5) states[i] = 1;
  }
  std::vector<std::uint8_t> images(3 * view.bytes(9)), read(states.size());
  draw_frames(*sprites, view, states.data(), images.data(), false, 0, 3);
  read_frames(*sprites, view, 1, images.data(), read.data(), 0, 3);
  CHECK(read == states);
  images[view.bytes(9) + view.row_bytes(9) * 17 + 3 * (9 + 4)] ^= 1;
  try {
    read_frames(*sprites, view, 1, images.data(), read.data(), 0, 3);
    CHECK(false);
  } catch (const ValueError& error) {
    CHECK(std::string(error.what()).find("image 1 at row 1, column 1") != std::string::npos);
  }
}

TEST(patches_by_copying_and_by_pixels_agree) {
  const Normalizer<float> normal;
  for (const auto& [grid, border, cell] :
       {Case{{4, 6}, 0, 14}, {{3, 5}, 0, 28}, {{5, 4}, 1, 56}, {{2, 4}, 0, 42}, {{7, 14}, 0, 12}, {{2, 2}, 0, 112}}) {
    const View view{grid, border};
    check_patches(view, cell);
    const auto sprites = atlas(sokoban::sprites(), cell, Theme::Light);
    const auto states = random_codes(2 * view.cells(), 7, 4);
    const auto pixels = slowly(*sprites, view, states, 2);
    const std::size_t rows = patch_rows(view, cell), pitch = view.row_bytes(cell), across = pitch / 3 / 28;
    for (const bool stream : {false, true}) {
      std::vector<float> values(2 * rows * kPatchValues);
      std::vector<std::uint16_t> halves(values.size());
      draw_patches(sprites, view, states.data(), values.data(), stream, 0, 2);
      draw_patches(sprites, view, states.data(), halves.data(), stream, 0, 2);
      for (std::size_t i = 0; i < values.size(); ++i) {
        const std::size_t k = i % kPatchValues, row = i / kPatchValues % rows, image = i / kPatchValues / rows;
        const std::size_t y = (row / 4 / across * 2 + row / 2 % 2) * 14 + k / 14 % 14,
                          x = (row / 4 % across * 2 + row % 2) * 14 + k % 14;
        const std::size_t channel = k / 392;
        CHECK(values[i] == normal(channel, pixels[image * view.bytes(cell) + y * pitch + x * 3 + channel]));
        std::uint32_t bits;
        std::memcpy(&bits, &values[i], 4);
        const std::uint32_t low = bits & 0xffff, high = bits >> 16;
        CHECK(halves[i] == high + (low > 0x8000 || (low == 0x8000 && (high & 1) == 1) ? 1 : 0));
      }
    }
  }
}

TEST(pictures_that_would_be_resized_are_refused) {
  CHECK_THROWS(check_patches({{3, 3}, 0}, 14), ValueError);     // 42 pixels
  CHECK_THROWS(check_patches({{1, 3}, 0}, 28), ValueError);     // 2352 pixels
  CHECK_THROWS(check_patches({{64, 64}, 0}, 112), ValueError);  // 51 million
  check_patches({{2, 2}, 0}, 28);
  check_patches({{32, 32}, 0}, 112);  // 12845056, just within
  CHECK_THROWS(check_patches({{32, 33}, 0}, 112), ValueError);
}

TEST(what_cannot_be_drawn_is_refused) {
  CHECK_THROWS(sliding::view({3, 3}, true), ValueError);
  CHECK_THROWS(sliding::view({6, 3}, false), ValueError);
  CHECK_THROWS(sokoban::view({2, 3}, true), ValueError);
  const std::uint8_t twice[] = {1, 1, 2, 0}, open[] = {1, 1, 1, 1, 5, 0, 1, 1, 1};
  CHECK_THROWS(sliding::check_drawable({{2, 2}, 0}, twice, 0, 1), ValueError);
  CHECK_THROWS(sliding::check_read({{2, 2}, 0}, twice, 0, 1), ValueError);
  CHECK_THROWS(sokoban::check_drawable({{3, 3}, 1}, open, 0, 1), ValueError);
  sokoban::check_drawable({{3, 3}, 0}, open, 0, 1);
}

TEST(threads_may_ask_for_atlases_at_once) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([t] {
      for (int i = 0; i < 60; ++i) {
        const int cell = kMinCell + (t + i * 3) % 45;
        const auto mine = atlas(sliding::sprites(), cell, Theme::Dark);
        CHECK(mine->cell() == cell && mine->codes() == 25);
      }
    });
  }
  for (auto& thread : threads) thread.join();
  const auto first = atlas(sokoban::sprites(), 20, Theme::Dark);
  CHECK(first == atlas(sokoban::sprites(), 20, Theme::Dark));
  CHECK(first != atlas(sokoban::sprites(), 20, Theme::Light));
}

TEST_MAIN
