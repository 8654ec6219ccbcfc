// Another thread writes into the states of a call while it runs. Whatever is written and whenever, the answer must be
// that of some state that each byte was read of once, or a refusal: then nothing was looked up, read or written by an
// index that no longer holds. Where an answer may be of two states, its parts must lie in their bounds.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <utility>
#include <vector>

#include "changing_memory.hpp"
#include "check.hpp"
#include "core/episodes/episodes.hpp"
#include "core/memory/narrow.hpp"
#include "ice/episodes.hpp"
#include "ice/simulate.hpp"
#include "ice/solver.hpp"
#include "sliding/episodes.hpp"
#include "sliding/simulate.hpp"
#include "sliding/solver.hpp"
#include "sliding_fixtures.hpp"
#include "sokoban/episodes.hpp"
#include "sokoban/simulate.hpp"
#include "sokoban/solver.hpp"
#include "sokoban_fixtures.hpp"

using namespace recommit;
using fixtures::answers_once;
using fixtures::Bytes;

namespace {

using Pair = std::pair<Bytes, Bytes>;  // what the memory holds before and after

template <class Value>
void append(Bytes& out, const Value& value) {
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(&value);
  out.insert(out.end(), bytes, bytes + sizeof value);
}

/// One puzzle's functions, and what its memory changes between.
struct Puzzle {
  Shape shape;
  std::vector<Pair> changes;
  void (*step)(const std::uint8_t*, Shape, const std::uint8_t*, std::uint8_t*, std::size_t, std::size_t);
  void (*execute)(const std::uint8_t*, Shape, const std::uint8_t*, std::size_t, const std::int32_t*, bool, Outcomes,
                  std::size_t, std::size_t);
  void (*is_solved)(const std::uint8_t*, Shape, std::uint8_t*, std::size_t, std::size_t);
  void (*masks)(const std::uint8_t*, Shape, std::uint8_t*, std::size_t, std::size_t);
  std::shared_ptr<const LevelBank> (*bank)(const std::uint8_t*, std::size_t, Shape);
};

/// Tile 3 becomes a second 1, the blank wanders or is gone, codes are none at all.
Puzzle sliding_puzzle() {
  const Bytes board{1, 2, 3, 4, 0, 6, 7, 5, 8};
  return {{3, 3},
          {{board, {1, 2, 1, 4, 0, 6, 7, 5, 8}},
           {board, {0, 2, 3, 4, 1, 6, 7, 5, 8}},
           {board, {1, 2, 3, 4, 9, 6, 7, 5, 8}},
           {board, {255, 255, 3, 4, 255, 6, 7, 255, 255}},
           {{255, 255, 3, 4, 255, 6, 7, 255, 255}, board}},
          sliding::step,
          sliding::execute,
          sliding::is_solved,
          sliding::action_masks,
          sliding::make_bank};
}

Puzzle sokoban_puzzle() {
  const fixtures::Raw raw = fixtures::parse("#######/#     #/# $.@ #/#  $. #/#######");
  const auto with = [&](std::vector<std::pair<std::size_t, std::uint8_t>> cells) {
    Bytes out = raw.cells;
    for (const auto& [cell, code] : cells) out[cell] = code;
    return out;
  };
  const std::size_t player = 2 * 7 + 4, box = 2 * 7 + 2;
  return {raw.shape,
          {{raw.cells, with({{player, 0}, {8, 5}})},
           {raw.cells, with({{player, 255}, {box, 255}, {8, 255}, {34, 255}})},
           {raw.cells, with({{player, 0}})},
           {raw.cells, with({{player, 1}, {8, 5}, {9, 1}, {15, 1}})},
           {with({{box, 200}, {player + 1, 200}, {player, 0}}), raw.cells}},
          sokoban::step,
          sokoban::execute,
          sokoban::is_solved,
          sokoban::action_masks,
          sokoban::make_bank};
}

Puzzle ice_puzzle() {
  const Bytes cave{1, 1, 1, 1, 1, 1, 0, 0, 2, 1, 1, 3, 0, 0, 1, 1, 1, 1, 1, 1};
  const auto with = [&](std::vector<std::pair<std::size_t, std::uint8_t>> cells) {
    Bytes out = cave;
    for (const auto& [cell, code] : cells) out[cell] = code;
    return out;
  };
  return {{4, 5},
          {{cave, with({{11, 0}, {6, 3}})},
           {cave, with({{11, 0}})},
           {cave, with({{8, 0}})},
           {cave, with({{11, 255}, {8, 255}, {0, 255}})},
           {cave, with({{0, 0}, {19, 3}, {11, 0}})},
           {with({{0, 3}, {8, 0}, {19, 2}}), cave}},
          ice::step,
          ice::execute,
          ice::is_solved,
          ice::action_masks,
          ice::make_bank};
}

std::vector<Puzzle> puzzles() { return {sliding_puzzle(), sokoban_puzzle(), ice_puzzle()}; }

/// `call(puzzle, input)` answers as of states at rest, whatever changes.
template <class Call>
void check_all(const std::vector<Puzzle>& puzzles, const Call& call) {
  if (!fixtures::ChangingMemory::possible()) {
    std::puts("  skipped: expected Linux on x86-64, no sanitizer and no valgrind, got something else");
    return;
  }
  for (const Puzzle& puzzle : puzzles) {
    for (const auto& [before, after] : puzzle.changes) {
      CHECK(answers_once([&](const std::uint8_t* input) { return call(puzzle, input); }, before, after));
    }
  }
}

/// Single steps in all directions, between two rows of cells that nobody may write to.
void check_steps(const Puzzle& puzzle, const Bytes& before, const Bytes& after) {
  constexpr std::uint8_t kGuard = 0xa5;
  const std::size_t n = before.size();
  for (std::uint8_t action = 0; fixtures::ChangingMemory::possible() && action < kActions; ++action) {
    for (std::size_t moment = 0;; ++moment) {
      const fixtures::ChangingMemory input(before, after, moment);
      Bytes out(3 * n, kGuard);
      const auto step = [&](const std::uint8_t* states) {
        puzzle.step(states, puzzle.shape, &action, out.data() + n, 0, 1);
        return Bytes{1};
      };
      if (!fixtures::answer_of(step, input.data()).empty()) {
        std::size_t written = 0;
        for (std::size_t i = 0; i < n; ++i) {
          CHECK(out[i] == kGuard && out[2 * n + i] == kGuard);
          written += out[n + i] != before[i] && out[n + i] != after[i];
        }
        CHECK(written <= 3);
      }
      if (!input.changed()) break;
    }
  }
}

/// Checks the caller's memory, then reads it again.
Bytes step_that_reads_twice(const Puzzle& puzzle, const std::uint8_t* board) {
  const int blank = sliding::find_blank(board, puzzle.shape, 0);
  Bytes out(board, board + puzzle.shape.cells());
  std::swap(out[static_cast<std::size_t>(blank)], out[static_cast<std::size_t>(blank - puzzle.shape.cols)]);
  return out;
}

}  // namespace

TEST(a_step_that_reads_twice_is_caught) {
  if (!fixtures::ChangingMemory::possible()) return;
  const Puzzle puzzle = sliding_puzzle();
  const auto call = [&](const std::uint8_t* board) { return step_that_reads_twice(puzzle, board); };
  const auto& [board, twice_a_tile] = puzzle.changes[0];
  CHECK(!answers_once(call, board, twice_a_tile));
}

/// What the bindings do with actions and depths, and running episodes with actions: `copy(from, to)` says whether all
/// is well, and then all of the copy is.
template <class To, class Copy>
void check_copied_once(const Copy& copy) {
  constexpr std::size_t kCount = 20;
  const std::vector<std::int64_t> ones(kCount, 1), giants(kCount, std::int64_t{1} << 40);
  Bytes before, after;
  for (const std::int64_t value : ones) append(before, value);
  for (const std::int64_t value : giants) append(after, value);
  for (std::size_t moment = 0;; ++moment) {
    const fixtures::ChangingMemory input(before, after, moment);
    std::array<To, kCount> to{};
    const bool fine = copy(reinterpret_cast<const std::int64_t*>(input.data()), to);
    CHECK(!fine || std::all_of(to.begin(), to.end(), [](To value) { return value == 1; }));
    if (input.changed()) continue;
    CHECK(fine);
    return;
  }
}

TEST(integers) {
  if (!fixtures::ChangingMemory::possible()) return;
  check_copied_once<std::int32_t>([](const std::int64_t* from, auto& to) {
    const auto [smallest, largest] = narrow(from, to.size(), to.data());
    return smallest == 1 && largest == 1;
  });
  check_copied_once<std::uint8_t>(
      [](const std::int64_t* from, auto& to) { return narrow_actions(from, to.size(), to.data()); });
}

TEST(execute) {
  check_all(puzzles(), [](const Puzzle& puzzle, const std::uint8_t* input) {
    const std::array<std::uint8_t, 5> actions = {2, 1, 2, 0, 3};
    const std::int32_t depth = actions.size();
    Bytes out(static_cast<std::size_t>(puzzle.shape.cells()));
    std::int32_t executed = 0, moved = 0;
    std::uint8_t solved = 0;
    puzzle.execute(input, puzzle.shape, actions.data(), actions.size(), &depth, true,
                   {out.data(), &executed, &solved, &moved}, 0, 1);
    append(out, executed);
    append(out, moved);
    append(out, solved);
    return out;
  });
}

/// These bound their indices instead: an answer may be of two states, but a yes or no is one, and what a step writes
/// into is its own copy, in which it changes the cells of one move.
TEST(looks_and_single_steps) {
  check_all(puzzles(), [](const Puzzle& puzzle, const std::uint8_t* input) {
    std::array<std::uint8_t, 1 + kActions> out{};
    puzzle.is_solved(input, puzzle.shape, out.data(), 0, 1);
    puzzle.masks(input, puzzle.shape, out.data() + 1, 0, 1);
    for (const std::uint8_t yes : out) CHECK(yes <= 1);
    return Bytes{1};
  });
  for (const Puzzle& puzzle : puzzles()) {
    for (const auto& [before, after] : puzzle.changes) check_steps(puzzle, before, after);
  }
}

TEST(bank) {
  check_all(puzzles(), [](const Puzzle& puzzle, const std::uint8_t* input) {
    const auto bank = puzzle.bank(input, 1, puzzle.shape);
    Bytes out = bank->grids;
    append(out, bank->starts[0].at);
    append(out, bank->starts[0].left);
    append(out, bank->walled);
    return out;
  });
}

/// Slots that were not counted when the starts were are left as they are.
TEST(places) {
  if (!fixtures::ChangingMemory::possible()) return;
  const Bytes usual{1, 2, 3, 4, 0, 6, 7, 5, 8}, other{1, 2, 3, 4, 5, 6, 0, 7, 8};
  const auto bank = sliding::make_bank(usual.data(), 1, {3, 3}), start = sliding::make_bank(other.data(), 1, {3, 3});
  const auto call = [&](const std::uint8_t* mask) {
    const auto episodes = sliding::make_episodes(bank, {2, 9, Autoreset::Disabled, 1});
    episodes->place(*start, mask);
    return Bytes(episodes->grids(), episodes->grids() + 2 * usual.size());
  };
  CHECK(answers_once(call, {1, 0}, {1, 1}));
}

TEST(sliding_solver) {
  const fixtures::CacheFolder folder("changing");
  for (const bool table : {true, false}) {
    check_all({sliding_puzzle()}, [&](const Puzzle& puzzle, const std::uint8_t* input) {
      sliding::SolverOptions options;
      options.database = sliding::Database::Manhattan;
      options.full_tables = table;
      options.limits.nodes = 200000;  // a search for what is no board would never end
      const sliding::Solver solver(puzzle.shape, options, 1);
      Distance distance = 0;
      solver.distance(input, {&distance, nullptr, nullptr, nullptr}, 0, 1);
      CHECK(distance != kUnknown);
      Bytes out;
      append(out, distance);
      return out;
    });
  }
}

TEST(sliding_plans) {
  const fixtures::CacheFolder folder("changing");
  check_all({sliding_puzzle()}, [&](const Puzzle& puzzle, const std::uint8_t* input) {
    const sliding::Solver solver(puzzle.shape, {}, 1);
    std::vector<Bytes> plans(1);
    solver.solve(input, sliding::Ties::Random, 7, plans.data(), {}, 0, 1);
    plans[0].push_back(kActions);
    return plans[0];
  });
}

/// A fresh cache per call: the level itself is then made of the changing memory.
TEST(sokoban_solver) {
  check_all({sokoban_puzzle()}, [](const Puzzle& puzzle, const std::uint8_t* input) {
    sokoban::TableCache cache;
    const sokoban::Solver solver(cache);
    sokoban::Solution solution;
    solver.solve(input, puzzle.shape, sokoban::Ties::First, 0, 0, &solution, {0, 1});
    Bytes out = solution.actions;
    append(out, solution.answer.distance);
    return out;
  });
}

TEST(ice_solver) {
  check_all({ice_puzzle()}, [](const Puzzle& puzzle, const std::uint8_t* input) {
    std::vector<Bytes> plans(1);
    Distance distance = 0;
    ice::solve(input, puzzle.shape, ice::Ties::First, 0, plans.data(), &distance, 0, 1);
    Bytes out = plans[0];
    append(out, distance);
    return out;
  });
}

TEST_MAIN
