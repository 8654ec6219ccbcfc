// Running episodes against the pure functions.
#include "core/episodes/episodes.hpp"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "check.hpp"
#include "core/errors.hpp"
#include "core/rng.hpp"
#include "sliding/episodes.hpp"
#include "sliding/random_walk.hpp"
#include "sliding/simulate.hpp"
#include "sokoban/episodes.hpp"
#include "sokoban/simulate.hpp"

using namespace recommit;

namespace {

using Bytes = std::vector<std::uint8_t>;
constexpr std::size_t kLevels = 32;

struct Puzzle {
  std::shared_ptr<const LevelBank> bank;
  std::unique_ptr<Episodes> (*make)(std::shared_ptr<const LevelBank>, const EpisodesOptions&);
  void (*step)(const std::uint8_t*, Shape, const std::uint8_t*, std::uint8_t*, std::size_t, std::size_t);
  void (*masks)(const std::uint8_t*, Shape, std::uint8_t*, std::size_t, std::size_t);
};

Puzzle sliding_puzzle(Shape shape) {
  Bytes boards(kLevels * static_cast<std::size_t>(shape.cells()));
  sliding::generate_walks(shape, 1, 0, boards.data(), 0, kLevels);
  return {sliding::make_bank(boards.data(), kLevels, shape), sliding::make_episodes, sliding::step,
          sliding::action_masks};
}

/// Random rooms; without walls around them where `walled` is false.
Puzzle sokoban_puzzle(Shape shape, bool walled) {
  const auto n = static_cast<std::size_t>(shape.cells());
  Bytes levels(kLevels * n);
  for (std::size_t i = 0; i < kLevels; ++i) {
    Rng rng(2, Purpose::Test, i);
    std::vector<std::size_t> free;
    for (std::size_t cell = 0; cell < n; ++cell) {
      const int row = static_cast<int>(cell) / shape.cols, col = static_cast<int>(cell) % shape.cols;
      const bool border = row == 0 || col == 0 || row == shape.rows - 1 || col == shape.cols - 1;
      levels[i * n + cell] = (border && walled) || rng.below(8) == 0 ? sokoban::kWall : sokoban::kFloor;
      if (levels[i * n + cell] == sokoban::kFloor) free.push_back(cell);
    }
    rng.shuffle(free);
    const std::uint8_t pieces[] = {sokoban::kPlayer, sokoban::kBox, sokoban::kGoal, sokoban::kBox, sokoban::kGoal};
    for (std::size_t k = 0; k < 5; ++k) levels[i * n + free[k]] = pieces[k];
  }
  return {sokoban::make_bank(levels.data(), kLevels, shape), sokoban::make_episodes, sokoban::step,
          sokoban::action_masks};
}

std::vector<Puzzle> puzzles() {
  std::vector<Puzzle> all;
  for (const Shape shape : {Shape{2, 2}, Shape{3, 4}, Shape{5, 5}}) all.push_back(sliding_puzzle(shape));
  for (const Shape shape : {Shape{5, 6}, Shape{10, 10}, Shape{12, 5}}) all.push_back(sokoban_puzzle(shape, true));
  for (const Shape shape : {Shape{3, 5}, Shape{9, 2}, Shape{17, 17}}) all.push_back(sokoban_puzzle(shape, false));
  return all;
}

std::vector<std::optional<std::uint64_t>> seeds(std::size_t slots) {
  std::vector<std::optional<std::uint64_t>> all(slots);
  for (std::size_t i = 0; i < slots; ++i) all[i] = i;
  return all;
}

struct Results {
  explicit Results(const Episodes& episodes)
      : rewards(episodes.slots()),
        terminated(episodes.slots()),
        truncated(episodes.slots()),
        grids(episodes.slots() * episodes.cells()),
        masks(episodes.slots() * kActions) {}
  StepResults to() { return {rewards.data(), terminated.data(), truncated.data(), grids.data(), masks.data()}; }
  bool operator==(const Results&) const = default;
  std::vector<float> rewards;
  Bytes terminated, truncated, grids, masks;
};

Bytes actions(std::size_t slots, std::uint64_t step) {
  Bytes all(slots);
  Rng rng(3, Purpose::Test, step);
  for (std::uint8_t& action : all) action = static_cast<std::uint8_t>(rng.below(kActions));
  return all;
}

}  // namespace

TEST(a_step_is_that_of_the_pure_functions) {
  for (const Puzzle& puzzle : puzzles()) {
    constexpr std::size_t kSlots = 300;
    const auto episodes = puzzle.make(puzzle.bank, {kSlots, 40, Autoreset::NextStep, 1});
    episodes->reset(seeds(kSlots), nullptr);
    Results out(*episodes);
    Bytes over(kSlots), expected(out.grids.size()), masks(out.masks.size());
    const std::size_t n = episodes->cells();
    for (std::uint64_t step = 0; step < 200; ++step) {
      const Bytes chosen = actions(kSlots, step);
      puzzle.step(episodes->grids(), episodes->shape(), chosen.data(), expected.data(), 0, kSlots);
      episodes->step(chosen.data(), out.to());
      puzzle.masks(episodes->grids(), episodes->shape(), masks.data(), 0, kSlots);
      CHECK(masks == out.masks);
      CHECK(std::equal(out.grids.begin(), out.grids.end(), episodes->grids()));
      for (std::size_t i = 0; i < kSlots; ++i) {
        const auto at = static_cast<std::ptrdiff_t>(i * n);
        const auto end = at + static_cast<std::ptrdiff_t>(n);
        if (over[i] == 0) CHECK(std::equal(expected.begin() + at, expected.begin() + end, out.grids.begin() + at));
        CHECK((out.rewards[i] == 1.0F) == (out.terminated[i] == 1));
        over[i] = out.terminated[i] | out.truncated[i];
      }
    }
  }
}

TEST(threads_and_modes_agree) {
  for (const Puzzle& puzzle : puzzles()) {
    for (const Autoreset mode : {Autoreset::NextStep, Autoreset::SameStep}) {
      constexpr std::size_t kSlots = 5000;  // more than one piece
      const auto one = puzzle.make(puzzle.bank, {kSlots, 20, mode, 1});
      const auto many = puzzle.make(puzzle.bank, {kSlots, 20, mode, 8});
      one->reset(seeds(kSlots), nullptr);
      many->reset(seeds(kSlots), nullptr);
      Results first(*one), second(*many);
      for (std::uint64_t step = 0; step < 30; ++step) {
        const Bytes chosen = actions(kSlots, step);
        one->step(chosen.data(), first.to());
        many->step(chosen.data(), second.to());
        CHECK(first == second);
        CHECK(one->ended() == many->ended());
      }
    }
  }
}

TEST(disabled_refuses_before_anything_changes) {
  const Puzzle puzzle = sliding_puzzle({3, 3});
  const auto episodes = puzzle.make(puzzle.bank, {4, 1, Autoreset::Disabled, 1});
  episodes->reset(seeds(4), nullptr);
  Results out(*episodes);
  episodes->step(actions(4, 0).data(), out.to());
  const Bytes before = out.grids;
  CHECK_THROWS(episodes->step(actions(4, 1).data(), out.to()), EpisodeOver);
  CHECK(std::equal(before.begin(), before.end(), episodes->grids()));
  const Bytes some{1, 0, 1, 0};
  episodes->reset(std::vector<std::optional<std::uint64_t>>(4), some.data());
  CHECK_THROWS(episodes->step(actions(4, 1).data(), out.to()), EpisodeOver);
}

TEST(one_caller_at_a_time) {
  const Puzzle puzzle = sliding_puzzle({3, 3});
  const auto episodes = puzzle.make(puzzle.bank, {4, 1, Autoreset::NextStep, 1});
  const Episodes::Turn turn(*episodes);
  bool refused = false;
  std::thread([&] {
    try {
      const Episodes::Turn second(*episodes);
    } catch (const BusyError&) {
      refused = true;
    }
  }).join();
  CHECK(refused);
}

TEST(actions_of_every_width_are_narrowed_and_judged) {
  std::uint8_t out[3];
  const std::int64_t good[] = {0, 3, 2}, low[] = {0, -1, 2}, high[] = {std::int64_t{1} << 40, 1, 2};
  CHECK(narrow_actions(good, 3, out) && out[0] == 0 && out[1] == 3 && out[2] == 2);
  CHECK(!narrow_actions(low, 3, out));
  CHECK(!narrow_actions(high, 3, out));
}

TEST(a_bank_must_be_playable) {
  const std::uint8_t solved[] = {1, 2, 3, 0}, odd[] = {2, 1, 3, 0}, twice[] = {1, 1, 3, 0};
  for (const auto* board : {solved, odd, twice}) CHECK_THROWS(sliding::make_bank(board, 1, {2, 2}), ValueError);
  const std::uint8_t done[] = {5, 4}, crowded[] = {5, 3}, empty[] = {3, 2};
  for (const auto* level : {done, crowded, empty}) CHECK_THROWS(sokoban::make_bank(level, 1, {1, 2}), ValueError);
}

TEST_MAIN

TEST(episodes_go_on_from_what_they_were) {
  for (const Puzzle& puzzle : puzzles()) {
    constexpr std::size_t kSlots = 50;
    const EpisodesOptions options{kSlots, 25, Autoreset::NextStep, 1};
    const auto one = puzzle.make(puzzle.bank, options), other = puzzle.make(puzzle.bank, options);
    one->reset(seeds(kSlots), nullptr);
    Results out(*one), again(*other);
    for (std::uint64_t step = 0; step < 60; ++step) one->step(actions(kSlots, step).data(), out.to());
    LevelBank states{one->shape(), Bytes(one->grids(), one->grids() + kSlots * one->cells()), {}, "", true};
    CHECK_THROWS(other->restore(states, one->marks()), ValueError);  // a slot without a mover
    const auto survey = puzzle.step == sliding::step ? sliding::survey : sokoban::survey;
    const auto now = survey(states.grids.data(), kSlots, one->shape());
    other->restore(*now, one->marks());
    for (std::uint64_t step = 60; step < 160; ++step) {
      one->step(actions(kSlots, step).data(), out.to());
      other->step(actions(kSlots, step).data(), again.to());
      CHECK(out == again);
    }
    Marks wrong = one->marks();
    wrong.steps[3] = 26;
    CHECK_THROWS(other->restore(*now, wrong), ValueError);
  }
}

TEST(slots_start_where_they_are_placed) {
  const Puzzle puzzle = sokoban_puzzle({7, 7}, true);
  const auto episodes = puzzle.make(puzzle.bank, {3, 9, Autoreset::Disabled, 1});
  const std::size_t n = episodes->cells();
  const Bytes before(episodes->grids(), episodes->grids() + 3 * n);
  const auto start = sokoban::make_bank(puzzle.bank->grid(5), 1, {7, 7});
  const std::uint8_t second[] = {0, 1, 0}, two[] = {1, 1, 0};
  episodes->place(*start, second);
  CHECK(std::equal(before.begin(), before.begin() + static_cast<std::ptrdiff_t>(n), episodes->grids()));
  CHECK(std::equal(episodes->grids() + n, episodes->grids() + 2 * n, puzzle.bank->grid(5)));
  CHECK_THROWS(episodes->place(*start, two), ValueError);
  CHECK_THROWS(episodes->place(*sokoban_puzzle({7, 7}, false).bank, second), ValueError);
  CHECK_THROWS(episodes->draw_from(sokoban_puzzle({8, 7}, true).bank), ValueError);
  episodes->draw_from(start);
  episodes->reset(seeds(3), nullptr);
  for (std::size_t slot = 0; slot < 3; ++slot) {
    CHECK(std::equal(episodes->grids() + slot * n, episodes->grids() + (slot + 1) * n, puzzle.bank->grid(5)));
  }
}
