// Levels made by pulling: every certificate solves its level.
#include <algorithm>
#include <cstring>
#include <set>
#include <string>
#include <vector>

#include "check.hpp"
#include "core/errors.hpp"
#include "core/threads/parallel.hpp"
#include "sokoban/rooms/reverse_pull.hpp"
#include "sokoban/simulate.hpp"

using namespace recommit;
using namespace recommit::sokoban;

namespace {

using Cells = std::vector<std::uint8_t>;

/// Replays a plan. True iff it solves the level, and with its last action.
bool plan_solves(const Cells& state, Shape shape, const Cells& plan) {
  Cells after(state.size());
  std::int32_t depth = static_cast<std::int32_t>(plan.size()), executed = 0, moved = 0;
  std::uint8_t solved = 0;
  execute(state.data(), shape, plan.data(), plan.size(), &depth, true, {after.data(), &executed, &solved, &moved}, 0,
          1);
  return solved && executed == depth && moved == depth;
}

/// Cells connected to the player through anything but walls; -1 if that touches the edge of the grid.
int connected(const Cells& state, Shape shape) {
  std::vector<int> stack{find_player(state.data(), shape, 0)};
  Cells seen(state.size());
  seen[static_cast<std::size_t>(stack[0])] = 1;
  int count = 0;
  while (!stack.empty()) {
    const int cell = stack.back(), row = cell / shape.cols, col = cell % shape.cols;
    stack.pop_back();
    ++count;
    if (row == 0 || col == 0 || row == shape.rows - 1 || col == shape.cols - 1) return -1;
    for (int a = 0; a < kActions; ++a) {
      const auto next = static_cast<std::size_t>((row + kRowStep[a]) * shape.cols + col + kColStep[a]);
      if (state[next] == kWall || seen[next]) continue;
      seen[next] = 1;
      stack.push_back(static_cast<int>(next));
    }
  }
  return count;
}

struct Counts {
  int boxes = 0, goals = 0, players = 0, walls = 0, open = 0;
  explicit Counts(const Cells& state) {
    for (const std::uint8_t c : state) {
      boxes += is_box(c);
      goals += has_goal(c);
      players += c >= kPlayer;
      walls += c == kWall;
      open += c != kWall && !is_box(c);
    }
  }
};

void check_level(const CertifiedLevel& level, Shape shape, int boxes) {
  const Counts counts(level.state);
  CHECK(counts.boxes == boxes && counts.goals == boxes && counts.players == 1);
  CHECK(!is_goal(level.state.data(), shape));
  CHECK(plan_solves(level.state, shape, level.plan));
  CHECK(connected(level.state, shape) >= counts.open);  // every open cell, and the boxes that can be reached
}

}  // namespace

TEST(every_plan_solves_its_level) {
  struct Request {
    Shape shape;
    int boxes, count;
  };
  for (const Request r : {Request{{8, 8}, 2, 3000},
                          {{7, 7}, 3, 2000},
                          {{10, 10}, 4, 2000},
                          {{6, 6}, 1, 1000},
                          {{5, 9}, 2, 500},
                          {{12, 12}, 10, 300},
                          {{20, 13}, 6, 200},
                          {{64, 64}, 30, 3}}) {
    for (int i = 0; i < r.count; ++i) {
      check_level(reverse_level(r.shape, r.boxes, 11, static_cast<std::uint64_t>(i)), r.shape, r.boxes);
    }
  }
}

TEST(the_tightest_requests_can_be_met) {
  for (int rows = 3; rows <= 8; ++rows) {
    for (int cols = 3; cols <= 8; ++cols) {
      if (std::max(rows, cols) < 5) continue;
      const Shape shape{rows, cols};
      const int most = (rows - 2) * (cols - 2) - 2;
      for (int boxes = 1; boxes <= most; ++boxes) {
        for (std::uint64_t i = 0; i < 20; ++i) check_level(reverse_level(shape, boxes, 5, i), shape, boxes);
      }
      CHECK_THROWS(check_reverse_request(shape, most + 1), ValueError);
      CHECK_THROWS(check_reverse_request(shape, 0), ValueError);
    }
  }
}

TEST(impossible_requests_name_both_values) {
  try {
    check_reverse_request({8, 8}, 40);
    CHECK(false);
  } catch (const ValueError& error) {
    CHECK(std::string(error.what()) == "boxes: expected 1..34 in levels of 8 by 8 cells, got 40");
  }
  for (const Shape shape : {Shape{4, 4}, Shape{2, 9}, Shape{9, 65}, Shape{0, 0}, Shape{-3, 8}}) {
    CHECK_THROWS(check_reverse_request(shape, 1), ValueError);
  }
}

TEST(slices_and_threads_do_not_matter) {
  const Shape shape{9, 8};
  const auto cells = static_cast<std::size_t>(shape.cells());
  const std::size_t count = 1000;
  Cells all(count * cells), other(count * cells);
  generate_reverse(shape, 3, 42, 100, all.data(), 0, count);
  for (const int threads : {1, 2, 5}) {
    std::fill(other.begin(), other.end(), std::uint8_t{255});
    parallel_for(count, threads, 7, [&](std::size_t begin, std::size_t end) {
      generate_reverse(shape, 3, 42, 100, other.data(), begin, end);
    });
    CHECK(all == other);
  }
  generate_reverse(shape, 3, 42, 600, other.data(), 0, 500);  // another start, the same instances
  CHECK(std::memcmp(other.data(), all.data() + 500 * cells, 500 * cells) == 0);
  CHECK(std::memcmp(reverse_level(shape, 3, 42, 617).state.data(), all.data() + 517 * cells, cells) == 0);
}

TEST(levels_vary) {
  const Shape shape{8, 8};
  std::set<std::string> distinct;  // as text: g++ 12 warns without cause about sets of byte vectors
  int few_walls = 0, many_walls = 0, off_goal = 0;
  std::set<std::size_t> lengths;
  for (std::uint64_t i = 0; i < 2000; ++i) {
    const CertifiedLevel level = reverse_level(shape, 2, 1, i);
    distinct.emplace(level.state.begin(), level.state.end());
    lengths.insert(level.plan.size());
    const int walls = Counts(level.state).walls - 28;
    few_walls += walls <= 5;
    many_walls += walls >= 16;
    off_goal += static_cast<int>(std::count(level.state.begin(), level.state.end(), kBox));
  }
  std::printf("  few %d many %d off goal %d lengths %zu\n", few_walls, many_walls, off_goal, lengths.size());
  CHECK(distinct.size() >= 1999);
  CHECK(few_walls > 200 && many_walls > 200);
  CHECK(off_goal > 3400);  // of 4,000 boxes
  CHECK(lengths.size() > 40);
}

TEST(a_wall_on_the_way_is_caught) {  // the harness itself: a level spoilt on its plan must not pass
  const Shape shape{8, 8};
  int caught = 0;
  for (std::uint64_t i = 0; i < 200; ++i) {
    CertifiedLevel level = reverse_level(shape, 2, 9, i);
    Cells after = level.state;
    int player = find_player(after.data(), shape, 0);
    const int before = player;
    move(after.data(), shape, player, level.plan[0]);
    if (level.state[static_cast<std::size_t>(player)] != kFloor || player == before) continue;
    level.state[static_cast<std::size_t>(player)] = kWall;
    CHECK(!plan_solves(level.state, shape, level.plan));
    ++caught;
  }
  CHECK(caught > 50);
}

TEST_MAIN
