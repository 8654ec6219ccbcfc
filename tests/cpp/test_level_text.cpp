// Level files: what is read, what is refused, and where.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "check.hpp"
#include "core/rng.hpp"
#include "sliding/level_text.hpp"
#include "sliding/simulate.hpp"
#include "sokoban/level_text.hpp"
#include "sokoban/simulate.hpp"

using namespace recommit;

namespace {

struct Place {
  int line, column;
  bool operator==(const Place&) const = default;
};

/// Where the parser refuses the text; {-1, -1} where it accepts it.
template <class Parse>
Place refused(Parse parse, std::string_view bytes) {
  try {
    parse(Text(bytes));
    return {-1, -1};
  } catch (const LevelError& error) {
    return {error.line, error.column};
  }
}

Place sokoban_error(std::string_view bytes) { return refused(sokoban::parse_levels, bytes); }
Place sliding_error(std::string_view bytes) { return refused(sliding::parse_levels, bytes); }

std::string repeat(std::string_view text, std::size_t times) {
  std::string out;
  for (std::size_t i = 0; i < times; ++i) out += text;
  return out;
}

constexpr std::string_view kLevel = "#####\n#@$.#\n#####\n";
constexpr std::string_view kBoard = "1 2 3\n4 0 6\n7 5 8\n";

}  // namespace

TEST(all_seven_symbols_and_three_floors) {
  const Pack pack = sokoban::parse_levels(Text("########\n#+$*-_ #\n########\n\n########\n#@$.*  #\n########\n"));
  CHECK((pack.shapes == std::vector<Shape>{{3, 8}, {3, 8}}));
  const std::vector<std::uint8_t> first{1, 6, 3, 4, 0, 0, 0, 1}, second{1, 5, 3, 2, 4, 0, 0, 1};
  CHECK(std::equal(first.begin(), first.end(), pack.cells.begin() + 8));
  CHECK(std::equal(second.begin(), second.end(), pack.cells.begin() + 32));
}

TEST(outside_becomes_wall) {
  const Pack pack = sokoban::parse_levels(Text("  ####\n###  ###\n#  $ . #\n#@######\n###  \n"));
  CHECK((pack.shapes == std::vector<Shape>{{5, 8}}));
  for (const int cell : {0, 1, 6, 7, 35, 36, 37, 38, 39})
    CHECK(pack.cells[static_cast<std::size_t>(cell)] == sokoban::kWall);
  CHECK(pack.cells[11] == sokoban::kFloor);
}

TEST(titles_go_to_their_levels) {
  const std::string level(kLevel);
  const Pack pack = sokoban::parse_levels(
      Text("; 6\nThree\n\n" + level + "; 7\n" + level + "Author: x\nTITLE:  a b \t\n\nTitle: up\n; no\n" + level));
  CHECK((pack.titles == std::vector<std::string>{"Three", "a b", "up"}));
  CHECK((sokoban_error("Three\n\n" + level + "; 7\n" + level) == Place{6, 1}));
}

TEST(errors_have_places) {
  CHECK((sokoban_error("") == Place{0, 0}));
  CHECK((sokoban_error(std::string(kLevel) + "\n#####\n#@$x#\n#####\n") == Place{6, 4}));
  CHECK((sokoban_error("#####\n# $.#\n#####\n") == Place{1, 1}));
  CHECK((sokoban_error("######\n#@$@.#\n######\n") == Place{2, 4}));
  CHECK((sokoban_error("######\n#@$$.#\n######\n") == Place{1, 1}));
  CHECK((sokoban_error("#####\n#@$. \n#####\n") == Place{2, 4}));
  CHECK((sokoban_error("##### .\n#@ .# $\n#####\n") == Place{1, 1}));
  CHECK((sokoban_error("##### .\n#@* # $\n#####\n") == Place{1, 7}));
  CHECK((sokoban_error("#####\n#@\t.#\n#####\n") == Place{2, 3}));
  CHECK((sokoban_error(repeat("#", 70) + "\n") == Place{1, 65}));
  CHECK((sokoban_error(repeat("#\n", 70)) == Place{65, 1}));
  CHECK((sokoban_error("; 0\n" + std::string(kLevel) + "; 1\n") == Place{5, 1}));
  CHECK((sokoban_error(std::string_view("#####\n#@\0", 9)) == Place{2, 3}));
  CHECK((sokoban_error("; caf\xE9\n") == Place{1, 6}));
  CHECK((sokoban_error("; \xC3\xA9\r; \n") == Place{1, 5}));
  CHECK((sliding_error("1 2 3\n4 0 x\n7 5 8\n") == Place{2, 5}));
  CHECK((sliding_error("1 2 3\n4 0 3\n7 5 8\n") == Place{2, 5}));
  CHECK((sliding_error("1 2 3\n4 0\n7 5 8\n") == Place{2, 1}));
  CHECK((sliding_error("1 2 3 4 5 6\n") == Place{1, 11}));
  CHECK((sliding_error(std::string(kBoard) + "\n1 2\n3 0\n") == Place{5, 1}));
}

TEST(messages_say_both_values) {
  const auto message = [](std::string_view bytes) {
    try {
      sokoban::parse_levels(Text(bytes));
    } catch (const LevelError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  CHECK(message("######\n#@$$.#\n######\n") ==
        "line 1, column 1: expected as many boxes as goals, got 2 boxes and 1 goals");
  CHECK(message(repeat("#", 70) + "\n") == "line 1, column 65: expected at most 64 columns, got 70");
  CHECK(message(repeat("#\n", 70)) == "line 65, column 1: expected at most 64 rows, got 70");
}

TEST(limits_of_the_whole_text) {
  CHECK((sokoban_error(std::string(kMaxTextBytes + 1, '#')) == Place{0, 0}));
  CHECK((sokoban_error(std::string(1'000'000, '#')) == Place{1, 4097}));
  CHECK((sokoban_error(repeat("#####\n#@$.#\n#####\n\n", kMaxLevels + 1)) ==
         Place{static_cast<int>(4 * kMaxLevels) + 1, 1}));
  // One long row makes each of these 64 x 64 cells in 200 bytes.
  const std::string wide = repeat("#", 64) + "\n#@$.#\n#####\n" + repeat("#\n", 61) + "\n";
  CHECK((sokoban_error(repeat(wide, kMaxPackCells / 4096 + 1)) ==
         Place{static_cast<int>(65 * (kMaxPackCells / 4096)) + 1, 1}));
}

namespace {

/// A room with `boxes` boxes and goals and one player in random cells, walls around.
void add_room(Pack& pack, Rng& rng) {
  const Shape shape{4 + static_cast<int>(rng.below(12)), 5 + static_cast<int>(rng.below(12))};
  std::vector<std::uint8_t> cells(static_cast<std::size_t>(shape.cells()), sokoban::kWall);
  std::vector<std::size_t> free;
  for (int row = 1; row < shape.rows - 1; ++row) {
    for (int col = 1; col < shape.cols - 1; ++col) free.push_back(static_cast<std::size_t>(row * shape.cols + col));
  }
  for (const std::size_t cell : free) cells[cell] = sokoban::kFloor;
  const auto take = [&] {
    const std::size_t cell = free.back();
    free.pop_back();
    return cell;
  };
  rng.shuffle(free);
  cells[take()] = sokoban::kPlayer;
  cells[take()] = sokoban::kBox;
  cells[take()] = sokoban::kGoal;
  if (rng.below(2) != 0) cells[take()] = sokoban::kBoxOnGoal;
  pack.cells.insert(pack.cells.end(), cells.begin(), cells.end());
  pack.shapes.push_back(shape);
  pack.titles.push_back(rng.below(2) != 0 ? "Room " + std::to_string(pack.shapes.size()) : "");
}

}  // namespace

TEST(sokoban_round_trip) {
  Rng rng(7, Purpose{}, 0);
  for (int i = 0; i < 2000; ++i) {
    Pack pack;
    for (std::size_t n = 1 + rng.below(4); n > 0; --n) add_room(pack, rng);
    const Pack again = sokoban::parse_levels(Text(sokoban::format_levels(pack, PackFormat::Xsb)));
    CHECK(again.cells == pack.cells && again.shapes == pack.shapes && again.titles == pack.titles);
    pack.titles.assign(pack.titles.size(), "");
    for (const PackFormat format : {PackFormat::Boxoban, PackFormat::Plain}) {
      const Pack other = sokoban::parse_levels(Text(sokoban::format_levels(pack, format)));
      CHECK(other.cells == pack.cells && other.shapes == pack.shapes);
    }
  }
}

TEST(formats_look_as_documented) {
  Pack pack = sokoban::parse_levels(Text(std::string(kLevel) + "Title: a\n\n" + std::string(kLevel)));
  const std::string level(kLevel);
  CHECK(sokoban::format_levels(pack, PackFormat::Xsb) == level + "Title: a\n\n" + level);
  pack.titles = {"12", ""};
  CHECK(sokoban::format_levels(pack, PackFormat::Boxoban) == "; 12\n" + level + "\n; 1\n" + level);
  pack.titles = {"", ""};
  CHECK(sokoban::format_levels(pack, PackFormat::Plain) == level + "\n" + level);
  const Pack boards{{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 0}, {{3, 4}}, {""}};
  CHECK(sliding::format_levels(boards, PackFormat::Plain) == " 1  2  3  4\n 5  6  7  8\n 9 10 11  0\n");
}

TEST(what_cannot_be_read_back_is_not_written) {
  const Pack good = sokoban::parse_levels(Text(kLevel));
  const auto with = [&](std::size_t cell, std::uint8_t code) {
    Pack pack = good;
    pack.cells[cell] = code;
    return pack;
  };
  for (const Pack& bad :
       {with(0, 0), with(5, 0), with(14, 2), with(7, 5), with(6, 0), with(7, 4), with(7, 0), with(7, 9)}) {
    CHECK_THROWS(sokoban::format_levels(bad, PackFormat::Plain), ValueError);
  }
  for (const char* title : {" a", "a\t", "a\nb", "\x1b[0m", "\xff"}) {
    Pack pack = good;
    pack.titles = {title};
    CHECK_THROWS(sokoban::format_levels(pack, PackFormat::Xsb), ValueError);
  }
  Pack titled = good;
  titled.titles = {"word"};
  CHECK_THROWS(sokoban::format_levels(titled, PackFormat::Plain), ValueError);
  CHECK_THROWS(sokoban::format_levels(titled, PackFormat::Boxoban), ValueError);
  CHECK_THROWS(sliding::format_levels(Pack{{0, 1, 2, 2}, {{2, 2}}, {""}}, PackFormat::Plain), ValueError);
  CHECK_THROWS(
      sliding::format_levels(Pack{{0, 1, 2, 3, 0, 1, 2, 3, 4, 5}, {{2, 2}, {2, 3}}, {"", ""}}, PackFormat::Plain),
      ValueError);
}

TEST(sliding_round_trip) {
  Rng rng(11, Purpose{}, 0);
  for (int i = 0; i < 4000; ++i) {
    const Shape shape{2 + static_cast<int>(rng.below(4)), 2 + static_cast<int>(rng.below(4))};
    Pack pack;
    for (std::size_t n = 1 + rng.below(3); n > 0; --n) {
      std::vector<std::uint8_t> tiles;
      for (int tile = 0; tile < shape.cells(); ++tile) {
        const auto at = static_cast<std::ptrdiff_t>(rng.below(static_cast<std::uint32_t>(tile) + 1));
        tiles.insert(tiles.begin() + at, static_cast<std::uint8_t>(tile));
      }
      pack.cells.insert(pack.cells.end(), tiles.begin(), tiles.end());
      pack.shapes.push_back(shape);
      pack.titles.emplace_back(std::to_string(n));
    }
    const Pack again =
        sliding::parse_levels(Text(sliding::format_levels(pack, i % 2 != 0 ? PackFormat::Xsb : PackFormat::Boxoban)));
    CHECK(again.cells == pack.cells && again.shapes == pack.shapes && again.titles == pack.titles);
  }
}

TEST_MAIN
