// Tables against the simulator, state by state.
#include <algorithm>
#include <array>
#include <cstdio>
#include <functional>
#include <string>
#include <unordered_set>
#include <vector>

#include "check.hpp"
#include "core/errors.hpp"
#include "sokoban/simulate.hpp"
#include "sokoban/table/table.hpp"
#include "sokoban_fixtures.hpp"

using namespace recommit;
using namespace recommit::sokoban;
using fixtures::parse;
using fixtures::random_level;
using fixtures::Raw;

namespace {

int boxes_inside(const Level& level, const Raw& raw) {
  State state;
  level.read(raw.data(), state);
  return static_cast<int>(state.boxes.size());
}

Built build(const Raw& raw, const Limits& limits = {}) {
  const Level level = Level::of_state(raw.data(), raw.shape);
  return TableBuilder().build(level, boxes_inside(level, raw), limits);
}

bool same_bytes(const Table& a, const Table& b) {
  return a.bytes() == b.bytes() && a.wide() == b.wide() && std::equal(a.data(), a.data() + a.bytes(), b.data());
}

/// Calls visit(state, distance) for every state of a table: all box sets, all players.
void each_state(const Table& table, const std::function<void(const State&, Distance)>& visit) {
  State state;
  state.boxes.resize(static_cast<std::size_t>(table.boxes()));
  for (std::uint32_t set = 0; set < table.sets().count(); ++set) {
    table.sets().unrank(set, state.boxes.data());
    for (int cell = 0; cell < table.cells(); ++cell) {
      state.player = static_cast<std::uint16_t>(cell);
      const Distance d = table.at(std::uint64_t{set} * static_cast<std::uint64_t>(table.cells()) + state.player);
      if (std::binary_search(state.boxes.begin(), state.boxes.end(), state.player)) {
        CHECK(d == kUnsolvable);
      } else {
        visit(state, d);
      }
    }
  }
}

std::uint64_t solvable(const Table& table) {
  std::uint64_t count = 0;
  each_state(table, [&](const State&, Distance d) { count += d >= 0; });
  return count;
}

Distance farthest(const Table& table) {
  Distance most = 0;
  each_state(table, [&](const State&, Distance d) { most = std::max(most, d); });
  return most;
}

/// One action by the simulator, which knows nothing of tables. Returns 0 blocked, 1 walked, 2 pushed.
int act(const Level& level, const State& state, int action, State& after, std::vector<std::uint8_t>& grid) {
  level.write(state, grid.data());
  int player = level.grid_at(state.player);
  if (!move(grid.data(), level.shape(), player, action)) return 0;
  level.read(grid.data(), after);
  return after.boxes == state.boxes ? 1 : 2;
}

struct Tally {
  std::uint64_t states = 0, solvable = 0, walks = 0, level_walks = 0, pushes = 0, deadly_pushes = 0, faults = 0;
  Distance worst_push = 0;
};

/// Compares every state with its four successors. d = 0 exactly at the goals and d = 1 + min over the successors (or
/// nothing solvable on both sides) has one solution: if it holds everywhere, the table is exact.
void check_bellman(const Level& level, const Table& table, const Raw& raw, Tally& tally, bool theorems = true) {
  std::vector<std::uint8_t> grid = raw.cells;
  State after;
  each_state(table, [&](const State& state, Distance d) {
    ++tally.states;
    tally.solvable += d >= 0;
    const bool goal = std::all_of(state.boxes.begin(), state.boxes.end(), [&](int box) { return level.is_goal(box); });
    Distance best = kUnsolvable;
    for (int action = 0; action < kActions; ++action) {
      const int kind = act(level, state, action, after, grid);
      if (kind == 0) continue;
      const Distance there = table.distance(after);
      if (there >= 0 && (best < 0 || there < best)) best = there;
      if (!theorems) continue;
      if (kind == 1) {
        ++tally.walks;
        CHECK((d >= 0) == (there >= 0));
        CHECK(d < 0 || std::abs(d - there) <= 1);
        tally.level_walks += d >= 0 && d == there && d > 0;
      } else if (d >= 0) {
        ++tally.pushes;
        tally.deadly_pushes += there < 0;
        if (there >= 0) {
          CHECK(d - there <= 1);
          tally.worst_push = std::min(tally.worst_push, d - there);
        }
      } else {
        CHECK(there < 0);
      }
    }
    if (goal ? d != 0 : d != (best < 0 ? kUnsolvable : best + 1)) ++tally.faults;
  });
}

/// Forward search from the level's own state: distinct states per number of actions, and how many can be solved.
struct Reach {
  std::vector<std::uint64_t> layers;
  std::uint64_t states = 0, live = 0;
};

using Counts = std::array<std::uint64_t, 9>;

Counts first_nine(const Reach& reach) {
  Counts counts{};
  for (std::size_t i = 0; i < counts.size() && i < reach.layers.size(); ++i) counts[i] = reach.layers[i];
  return counts;
}

Reach reach(const Raw& raw) {
  const Level level = Level::of_state(raw.data(), raw.shape);
  const Built built = build(raw);
  const Table& table = *built.table;
  std::unordered_set<std::string> seen{std::string(raw.cells.begin(), raw.cells.end())};
  std::vector<std::vector<std::uint8_t>> layer{raw.cells}, next;
  Reach out;
  State state;
  for (; !layer.empty(); layer.swap(next), next.clear()) {
    out.layers.push_back(layer.size());
    for (const auto& here : layer) {
      ++out.states;
      level.read(here.data(), state);
      out.live += table.distance(state) >= 0;
      for (int action = 0; action < kActions; ++action) {
        auto there = here;
        int player = find_player(there.data(), raw.shape, 0);
        if (move(there.data(), raw.shape, player, action) && seen.emplace(there.begin(), there.end()).second) {
          next.push_back(there);
        }
      }
    }
  }
  return out;
}

Distance start_distance(const Raw& raw) {
  const Level level = Level::of_state(raw.data(), raw.shape);
  State state;
  level.read(raw.data(), state);
  return TableBuilder().build(level, static_cast<int>(state.boxes.size())).table->distance(state);
}

}  // namespace

TEST(binomials_and_ranks) {
  CHECK(binomial(10, 3) == 120 && binomial(5, 0) == 1 && binomial(3, 4) == 0 &&
        binomial(64, 32) == 1832624140942590534ULL);
  CHECK(binomial(4096, 2048) == kSaturated && binomial(68, 34) == kSaturated &&
        binomial(67, 33) == 14226520737620288370ULL);
  const Raw raw = random_level(1, {8, 8}, 3, 10);
  const Level level = Level::of_state(raw.data(), raw.shape);
  const BoxSets sets(level, 3);
  std::vector<std::uint16_t> cells(3);
  for (std::uint32_t rank = 0; rank < sets.count(); ++rank) {
    sets.unrank(rank, cells.data());
    CHECK(cells[0] < cells[1] && cells[1] < cells[2] && sets.rank(cells.data()) == rank);
  }
}

TEST(golden_levels) {
  const Raw first = parse("######/# .###/#  ###/#*@  #/#  $ #/#  ###/######");
  CHECK(start_distance(first) == 33);
  const Reach a = reach(first);
  CHECK(a.states == 639 && a.live == 158);
  CHECK(first_nine(a) == (Counts{1, 3, 6, 7, 11, 18, 25, 28, 29}));
  CHECK(start_distance(parse("#####/#@$.#/#####")) == 1);
  const Raw dead = parse("#####/#$  #/# @ #/#  .#/#####");
  const Reach b = reach(dead);
  CHECK(start_distance(dead) == kUnsolvable && b.states == 8 && b.live == 0);
  const Raw pair = parse("######/#    #/# $$ #/# .. #/#  @ #/######");
  const Reach c = reach(pair);
  CHECK(start_distance(pair) == 9 && c.states == 1676 && c.live == 84);
  CHECK(first_nine(c) == (Counts{1, 3, 4, 6, 12, 20, 28, 40, 61}));
}

TEST(every_state_of_random_levels_is_exact_and_the_theorems_hold) {
  Tally one, more;
  for (std::uint64_t i = 0; i < 240; ++i) {
    const int boxes = 1 + static_cast<int>(i % 3);
    const Raw raw =
        random_level(i, {5 + static_cast<int>(i % 4), 7}, boxes, 10 + 5 * static_cast<std::uint32_t>(i % 5));
    const Level level = Level::of_state(raw.data(), raw.shape);
    const Built built = build(raw);
    check_bellman(level, *built.table, raw, boxes == 1 ? one : more);
  }
  CHECK(one.faults == 0 && more.faults == 0);
  CHECK(one.level_walks == 0 && more.level_walks > 0);  // a walk that keeps d needs two boxes
  CHECK(more.deadly_pushes > 1000 && more.worst_push < -10);
  std::printf("  %llu states, %llu solvable, %llu walks (%llu keep d), %llu pushes (%llu deadly, worst %d)\n",
              static_cast<unsigned long long>(one.states + more.states),
              static_cast<unsigned long long>(one.solvable + more.solvable),
              static_cast<unsigned long long>(one.walks + more.walks),
              static_cast<unsigned long long>(more.level_walks),
              static_cast<unsigned long long>(one.pushes + more.pushes),
              static_cast<unsigned long long>(one.deadly_pushes + more.deadly_pushes), more.worst_push);
}

TEST(the_check_catches_a_wrong_table) {
  // The table of a level with one goal moved is a table of distances too, but not of this level.
  const Raw right = parse("#######/#  .  #/# $ $ #/#  @. #/#######"),
            wrong = parse("#######/# .   #/# $ $ #/#  @. #/#######");
  const Built built = build(wrong);
  Tally tally;
  check_bellman(Level::of_state(right.data(), right.shape), *build(right).table, right, tally);
  CHECK(tally.faults == 0);
  CHECK(BoxSets::count(Level::of_state(right.data(), right.shape), 2) == built.table->sets().count());
  check_bellman(Level::of_state(right.data(), right.shape), *built.table, right, tally, false);
  CHECK(tally.faults > 0);
}

TEST(all_mask_widths_and_both_kernels_agree) {
  // A corridor stretches the rectangle that masks cover, without changing much else.
  for (const int length : {0, 12, 30, 52}) {
    for (const bool down : {false, true}) {
      Raw raw{{12 + (down ? length : 0), 12 + (down ? 0 : length)}, {}};
      raw.shape = {std::min(raw.shape.rows, 64), std::min(raw.shape.cols, 64)};
      raw.cells.assign(static_cast<std::size_t>(raw.shape.cells()), kWall);
      const auto at = [&](int row, int col) -> std::uint8_t& {
        return raw.cells[static_cast<std::size_t>(row * raw.shape.cols + col)];
      };
      const Raw room = random_level(77, {6, 7}, 2, 5);
      for (int row = 1; row < 5; ++row)
        for (int col = 1; col < 6; ++col) at(row, col) = room.cells[static_cast<std::size_t>(row * 7 + col)];
      for (int row = 1; row + 1 < raw.shape.rows; ++row)
        at(row, 6) = at(row, 6) == kWall ? std::uint8_t{kFloor} : at(row, 6);
      for (int col = 6; col + 1 < raw.shape.cols; ++col) at(raw.shape.rows - 2, col) = kFloor;
      const Level level = Level::of_state(raw.data(), raw.shape);
      const int boxes = boxes_inside(level, raw);
      const Built best = TableBuilder().build(level, boxes);
      const Built portable = TableBuilder(TableBuilder::Kernel::Portable).build(level, boxes);
      CHECK(same_bytes(*best.table, *portable.table));
      Tally tally;
      check_bellman(level, *best.table, raw, tally, false);
      CHECK(tally.faults == 0 && tally.states > 1000);
    }
  }
}

TEST(the_whole_64_by_64_grid) {
  Raw raw{{64, 64}, std::vector<std::uint8_t>(64 * 64, kWall)};
  // A comb: corridors joined at the left, two cells wide where the box goes.
  for (int row = 0; row < 64; row += 2)
    for (int col = 0; col < 64; ++col) raw.cells[static_cast<std::size_t>(row * 64 + col)] = kFloor;
  for (int row = 1; row < 63; ++row) raw.cells[static_cast<std::size_t>(row * 64 + (row % 4 == 1 ? 0 : 63))] = kFloor;
  raw.cells[20] = kBox;
  raw.cells[30] = kGoal;
  raw.cells[62 * 64] = kPlayer;
  const Level level = Level::of_state(raw.data(), raw.shape);
  const Built best = TableBuilder().build(level, 1),
              portable = TableBuilder(TableBuilder::Kernel::Portable).build(level, 1);
  CHECK(best.table->wide() && farthest(*best.table) > 1000);  // two bytes, reached in the middle of the search
  CHECK(same_bytes(*best.table, *portable.table));
  Tally tally;
  check_bellman(level, *best.table, raw, tally, false);
  CHECK(tally.faults == 0);
}

TEST(more_boxes_than_goals_and_no_boxes) {
  const Raw lost = parse("#######/#@$ $.#/#     #/#######");
  const Built none = build(lost);
  CHECK(none.status == Status::Exact && solvable(*none.table) == 0);
  const Raw spare = parse("#######/#@$..*#/#     #/#     #/#######");
  const Level level = Level::of_state(spare.data(), spare.shape);
  Tally tally;
  check_bellman(level, *build(spare).table, spare, tally);
  CHECK(tally.faults == 0 && tally.solvable > 0);
  const Raw empty = parse("####/#@.#/####");
  CHECK(solvable(*build(empty).table) == 2 && start_distance(empty) == 0);
}

TEST(sizes_are_known_and_refused_before_allocation) {
  const Raw raw = random_level(5, {8, 8}, 3, 10);
  const Level level = Level::of_state(raw.data(), raw.shape);
  Limits limits;
  limits.bytes = Table::build_bytes(level, 3) - 1;
  CHECK(build(raw, limits).status == Status::ByteLimit && build(raw, limits).table == nullptr);
  ++limits.bytes;
  CHECK(build(raw, limits).status == Status::Exact);
  limits.nodes = 10;
  CHECK(build(raw, limits).status == Status::NodeLimit);
  std::vector<std::uint8_t> open(64 * 64, kFloor);
  open[0] = kPlayer;
  for (std::size_t i = 500; i < 520; ++i) open[i] = kBox, open[i + 1000] = kGoal;
  const Level huge = Level::of_state(open.data(), {64, 64});
  CHECK(Table::build_bytes(huge, 20) == kSaturated);
  CHECK(TableBuilder().build(huge, 20).status == Status::ByteLimit);
}

TEST(a_build_can_be_stopped) {
  const Raw raw = random_level(9, {10, 10}, 4, 10);
  const Level level = Level::of_state(raw.data(), raw.shape);
  Watch watch([](Watch& self) { self.stop(); });
  TableBuilder builder;
  CHECK_THROWS(builder.build(level, 4, {}, &watch), Interrupted);
  Limits hurried;
  hurried.seconds = 0;
  CHECK(builder.build(level, 4, hurried).status == Status::TimeLimit);
  CHECK(builder.build(level, 4).status == Status::Exact);  // the builder is as good as new
}

TEST(all_known_boxoban_lengths) {
  TableBuilder builder;
  std::size_t checked = 0;
  for (const char* set : {"unfiltered-test", "medium-valid", "hard"}) {
    for (const fixtures::Known& known : fixtures::boxoban(set)) {
      const Level level = Level::of_state(known.level.data(), known.level.shape);
      State state;
      CHECK(level.read(known.level.data(), state));
      CHECK(builder.build(level, 4).table->distance(state) == known.moves);
      ++checked;
    }
  }
  if (checked == 0) std::printf("  skipped: no ../shared/data and no RECOMMIT_SHARED\n");
  CHECK(checked == 0 || checked == 750);
}

TEST_MAIN
