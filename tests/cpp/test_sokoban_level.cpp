// Levels as numbered cells, and states in them.
#include <cstdint>
#include <vector>

#include "check.hpp"
#include "core/errors.hpp"
#include "sokoban/level.hpp"
#include "sokoban/simulate.hpp"
#include "sokoban_fixtures.hpp"

using namespace recommit;
using namespace recommit::sokoban;
using fixtures::parse;
using fixtures::Raw;

TEST(cells_are_numbered_in_row_major_order) {
  const Raw raw = parse("#####/#@$.#/#  ##/#####");
  const Level level = Level::of_state(raw.cells.data(), raw.shape);
  CHECK(level.cells() == 5 && level.goals() == 1);
  for (int cell = 0; cell < level.cells(); ++cell) CHECK(level.cell_at(level.grid_at(cell)) == cell);
  CHECK(level.neighbor(0, 3) == 1 && level.neighbor(0, 1) == 3 && level.neighbor(0, 0) == kNoCell);
  CHECK(level.neighbor(2, 2) == 1 && level.neighbor(2, 3) == kNoCell);
  CHECK(level.box() == (Shape{2, 3}) && level.row_of(4) == 1 && level.col_of(4) == 1);
}

TEST(live_cells_can_still_reach_a_goal) {
  const Raw raw = parse("######/#  . #/#@$  #/######");
  const Level level = Level::of_state(raw.cells.data(), raw.shape);
  // A box in a corner, or in the lower row (no goal there), is lost.
  const std::vector<bool> live{false, true, true, false, false, false, false, false};
  for (int cell = 0; cell < 8; ++cell) CHECK(level.is_live(cell) == live[static_cast<std::size_t>(cell)]);
  CHECK(level.live_cells() == 2);
}

TEST(wall_around_a_level_does_not_change_its_key) {
  const Raw a = parse("#####/#@$.#/#####"), b = parse("########/########/###@$.##/########/########");
  const Level first = Level::of_state(a.cells.data(), a.shape), second = Level::of_state(b.cells.data(), b.shape);
  CHECK(first.key() == second.key());
  const Raw c = parse("#####/#@.$#/#####");
  CHECK(Level::of_state(c.cells.data(), c.shape).key() != first.key());
}

TEST(states_survive_the_round_trip) {
  const Raw raw = parse("#######/#.$ @ #/# #*# #/# $ . #/#######");
  const Level level = Level::of_state(raw.cells.data(), raw.shape);
  State state;
  CHECK(level.matches(raw.cells.data()) && level.read(raw.cells.data(), state));
  CHECK(state.boxes.size() == 3 && state.boxes[0] < state.boxes[1]);
  std::vector<std::uint8_t> moved = raw.cells;
  int player = find_player(moved.data(), raw.shape, 0);
  CHECK(move(moved.data(), raw.shape, player, 2));
  level.write(state, moved.data());
  CHECK(moved == raw.cells);
}

TEST(what_the_player_cannot_reach_is_wall_or_verdict) {
  const Raw done = parse("#########/#@$.#  *#/#########"), lost = parse("#########/#@$.#. $#/#########");
  State state;
  const Level level = Level::of_state(done.cells.data(), done.shape);
  CHECK(level.cells() == 3 && level.goals() == 1);
  CHECK(level.read(done.cells.data(), state) && state.boxes.size() == 1);
  const Level other = Level::of_state(lost.cells.data(), lost.shape);
  CHECK(other.key() == level.key() && !level.matches(lost.cells.data()));
  CHECK(!other.read(lost.cells.data(), state) && state.boxes.size() == 1);
}

TEST(malformed_states_are_refused) {
  const Raw two = parse("#####/#@@.#/#####");
  CHECK_THROWS(Level::of_state(two.cells.data(), two.shape), ValueError);
  CHECK_THROWS(Level::of_state(two.cells.data(), Shape{65, 1}), ValueError);
}

TEST(the_largest_grid_works) {
  std::vector<std::uint8_t> open(64 * 64, kFloor);
  open[0] = kPlayer;
  open[100] = kBox;
  open[2000] = kGoal;
  const Level level = Level::of_state(open.data(), {64, 64});
  CHECK(level.cells() == 4096 && level.goals() == 1 && level.box() == (Shape{64, 64}));
  CHECK(level.live_cells() == 62 * 62);
}

TEST_MAIN
