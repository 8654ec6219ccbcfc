// Answers for raw states against each level's own table.
#include <algorithm>
#include <cstdio>
#include <thread>
#include <vector>

#include "check.hpp"
#include "core/errors.hpp"
#include "core/threads/parallel.hpp"
#include "sokoban/search/search.hpp"
#include "sokoban/solver.hpp"
#include "sokoban_fixtures.hpp"

using namespace recommit;
using namespace recommit::sokoban;
using fixtures::parse;
using fixtures::random_level;
using fixtures::Raw;

namespace {

constexpr Shape kShape{8, 8};

/// States of many levels in turn, each level many times: starts and what random play makes of them.
std::vector<std::uint8_t> mixed_states(std::size_t levels, std::size_t rounds) {
  std::vector<std::uint8_t> out;
  std::vector<Raw> states;
  for (std::size_t i = 0; i < levels; ++i) {
    states.push_back(
        random_level(1000 + i, kShape, 1 + static_cast<int>(i % 3), 5 + static_cast<std::uint32_t>(i % 20)));
  }
  Rng rng(1, Purpose::Test, 0);
  for (std::size_t round = 0; round < rounds; ++round) {
    for (Raw& raw : states) {
      out.insert(out.end(), raw.cells.begin(), raw.cells.end());
      int player = find_player(raw.data(), kShape, 0);
      move(raw.cells.data(), kShape, player, static_cast<int>(rng.below(4)));
    }
  }
  return out;
}

std::size_t count(const std::vector<std::uint8_t>& states) { return states.size() / 64; }

}  // namespace

TEST(answers_agree_with_each_levels_own_table) {
  const auto states = mixed_states(150, 40);
  TableCache cache;
  std::vector<Distance> distances(count(states));
  Solver(cache).distance(states.data(), kShape, distances.data(), {0, distances.size()});
  std::vector<Solution> solutions(distances.size());
  Solver(cache).solve(states.data(), kShape, Ties::Random, 0, 0, solutions.data(), {0, solutions.size()});
  std::size_t dead = 0, solved = 0;
  for (std::size_t i = 0; i < distances.size(); ++i) {
    const std::uint8_t* raw = states.data() + i * 64;
    const Level level = Level::of_state(raw, kShape);
    State state;
    const bool sound = level.read(raw, state);
    const Built built = TableBuilder().build(level, static_cast<int>(state.boxes.size()));
    const Distance expected = sound ? built.table->distance(state) : kUnsolvable;
    const Answer& answer = solutions[i].answer;
    CHECK(distances[i] == expected && answer.distance == expected && answer.lower_bound == expected);
    CHECK(answer.status == (expected < 0 ? Status::Unsolvable : Status::Exact));
    dead += expected < 0;
    solved += expected == 0;
  }
  CHECK(dead > 100 && solved > 10 && dead + 500 < distances.size());
  CHECK(cache.stats().builds <= 300);  // a level may come with its player in different pockets
}

TEST(plans_are_optimal_and_the_first_is_the_smallest) {
  const auto states = mixed_states(60, 4);
  TableCache cache;
  const Solver solver(cache);
  const std::size_t n = count(states);
  std::vector<Solution> first(n), random(n), again(n);
  std::vector<std::uint8_t> masks(n * 4);
  std::vector<Distance> distances(n);
  solver.distance(states.data(), kShape, distances.data(), {0, n});
  solver.solve(states.data(), kShape, Ties::First, 0, 0, first.data(), {0, n});
  solver.solve(states.data(), kShape, Ties::Random, 5, 100, random.data(), {0, n});
  solver.solve(states.data(), kShape, Ties::Random, 5, 100 + n / 2, again.data() + n / 2 - n / 2, {0, n - n / 2});
  solver.optimal_actions(states.data(), kShape, masks.data(), {0, n});
  std::size_t different = 0;
  for (std::size_t i = 0; i < n; ++i) {
    CHECK(first[i].answer.distance == distances[i] && random[i].answer.distance == distances[i]);
    CHECK(first[i].actions.size() == static_cast<std::size_t>(std::max(distances[i], 0)));
    for (const Solution* each : {&first[i], &random[i]}) {
      std::vector<std::uint8_t> grid(states.begin() + static_cast<std::ptrdiff_t>(i * 64),
                                     states.begin() + static_cast<std::ptrdiff_t>(i * 64 + 64));
      int player = find_player(grid.data(), kShape, 0);
      for (std::size_t k = 0; k < each->actions.size(); ++k) {
        CHECK(!is_goal(grid.data(), kShape));
        if (k == 0) CHECK(masks[4 * i + each->actions[0]] == 1);
        // The smallest plan takes the first action that its mask allows.
        if (each == &first[i]) {
          std::vector<std::uint8_t> mask(4);
          solver.optimal_actions(grid.data(), kShape, mask.data(), {0, 1});
          for (std::uint8_t a = 0; a < each->actions[k]; ++a) CHECK(mask[a] == 0);
        }
        CHECK(move(grid.data(), kShape, player, each->actions[k]));
      }
      CHECK(distances[i] < 0 || is_goal(grid.data(), kShape));
    }
    different += first[i].actions != random[i].actions;
    const int any = masks[4 * i] + masks[4 * i + 1] + masks[4 * i + 2] + masks[4 * i + 3];
    CHECK((any > 0) == (distances[i] > 0));
  }
  CHECK(different > n / 20);
  // The stream belongs to seed and start + index, so the wrong half of the batch gives other plans, the same one the
  // same.
  solver.solve(states.data() + (n / 2) * 64, kShape, Ties::Random, 5, 100 + n / 2, again.data(), {0, n - n / 2});
  for (std::size_t i = 0; i < n - n / 2; ++i) CHECK(again[i].actions == random[i + n / 2].actions);
}

TEST(ties_are_drawn_uniformly_at_every_step) {
  // Two ways around: right or down first, then the other.
  const Raw raw = parse("########/#@     #/#      #/#      #/#    $.#/########");
  TableCache cache;
  int right = 0;
  std::vector<Solution> out(1);
  for (std::uint64_t i = 0; i < 4000; ++i) {
    Solver(cache).solve(raw.data(), raw.shape, Ties::Random, 9, i, out.data(), {0, 1});
    CHECK(out[0].answer.distance == 7 && out[0].actions[0] != 0 && out[0].actions[0] != 2);
    right += out[0].actions[0] == 3;
  }
  CHECK(right > 1850 && right < 2150);
  CHECK(cache.stats().builds == 1);
}

TEST(thread_counts_do_not_matter) {
  const auto states = mixed_states(100, 20);
  const std::size_t n = count(states);
  std::vector<Distance> expected(n);
  TableCache calm;
  Solver(calm).distance(states.data(), kShape, expected.data(), {0, n});
  for (const std::uint64_t budget : {std::uint64_t{1} << 30, std::uint64_t{200'000}, std::uint64_t{0}}) {
    for (const int threads : {1, 4}) {
      TableCache cache(budget);
      const Solver solver(cache);
      std::vector<Distance> distances(n);
      parallel_for(n, threads, 37, [&](std::size_t begin, std::size_t end) {
        solver.distance(states.data(), kShape, distances.data(), {begin, end});
      });
      CHECK(distances == expected);
      CHECK(cache.stats().bytes <= budget);
    }
  }
}

TEST(one_build_for_many_callers) {
  const Raw raw = random_level(9, {10, 10}, 4, 8);
  for (int repeat = 0; repeat < 10; ++repeat) {
    TableCache cache;
    std::vector<std::thread> callers;
    std::vector<Distance> distances(4);
    for (std::size_t i = 0; i < 4; ++i) {
      callers.emplace_back([&, i] { Solver(cache).distance(raw.data(), raw.shape, &distances[i], {0, 1}); });
    }
    for (auto& caller : callers) caller.join();
    CHECK(cache.stats().builds == 1);
    for (const Distance d : distances) CHECK(d == distances[0]);
  }
}

TEST(raw_shapes_of_one_level_share_a_table) {
  const Raw a = parse("#######/#@ $ .#/#     #/#######"), b = parse("########/#@ $ .##/#     ##/########/########");
  TableCache cache;
  Distance first = 0, second = 0;
  Solver(cache).distance(a.data(), a.shape, &first, {0, 1});
  Solver(cache).distance(b.data(), b.shape, &second, {0, 1});
  CHECK(first == 3 && second == 3 && cache.stats().builds == 1 && cache.stats().levels == 2);
}

TEST(the_budget_holds_and_the_oldest_goes_first) {
  TableCache cache(3'000'000);
  for (std::uint64_t i = 0; i < 40; ++i) {
    const Raw raw = random_level(i, {9, 9}, 3, 8);
    Distance d = 0;
    Solver(cache).distance(raw.data(), raw.shape, &d, {0, 1});
    CHECK(cache.stats().bytes <= 3'000'000);
  }
  const CacheStats full = cache.stats();
  CHECK(full.builds == 40 && full.evictions > 0 && full.levels + full.evictions == 40);
  const Raw last = random_level(39, {9, 9}, 3, 8);
  Distance d = 0;
  Solver(cache).distance(last.data(), last.shape, &d, {0, 1});
  CHECK(cache.stats().builds == 40);
  const Raw oldest = random_level(0, {9, 9}, 3, 8);
  Solver(cache).distance(oldest.data(), oldest.shape, &d, {0, 1});
  CHECK(cache.stats().builds == 41);
  cache.clear();
  CHECK(cache.stats().bytes == 0 && cache.stats().levels == 0);
}

TEST(what_no_table_holds_is_searched) {
  const Raw raw = parse("########/#      #/# $ $  #/#    . #/# $$.. #/#  @ . #/#      #/########");
  const Level level = Level::of_state(raw.data(), raw.shape);
  TableCache cache;
  std::vector<Solution> tabled(1), searched(1), cold(1);
  Limits tight;
  tight.nodes = BoxSets::count(level, 4) * static_cast<std::uint64_t>(level.cells()) - 1;  // one short of the table
  Solver(cache, tight).solve(raw.data(), raw.shape, Ties::First, 0, 0, cold.data(), {0, 1});
  CHECK(cache.stats().builds == 0 && cold[0].answer.nodes > 0);
  Solver(cache).solve(raw.data(), raw.shape, Ties::First, 0, 0, tabled.data(), {0, 1});
  CHECK(cache.stats().builds == 1 && tabled[0].answer.nodes == 0 && tabled[0].answer.status == Status::Exact);
  Solver(cache, tight).solve(raw.data(), raw.shape, Ties::First, 0, 0, searched.data(), {0, 1});
  CHECK(searched[0].answer.nodes == cold[0].answer.nodes &&
        searched[0].actions == cold[0].actions);  // a warm cache changes nothing
  CHECK(searched[0].answer.status == Status::Exact && searched[0].answer.distance == tabled[0].answer.distance);
  Limits few;
  few.nodes = 1;
  Solver(cache, few).solve(raw.data(), raw.shape, Ties::Random, 0, 0, searched.data(), {0, 1});
  const Answer& answer = searched[0].answer;
  CHECK(answer.distance == kUnknown && answer.status == Status::NodeLimit);
  CHECK(answer.lower_bound >= 1 && answer.lower_bound <= tabled[0].answer.distance);
}

/// The searches that one answer takes share its limits: what all of them need is needed, and enough.
TEST(an_answer_of_several_searches_has_one_budget) {
  const Raw raw = parse("########/#      #/# $ $  #/#    . #/# $$.. #/#  @ . #/#      #/########");
  const Level level = Level::of_state(raw.data(), raw.shape);
  State state, after;
  level.read(raw.data(), state);
  const LevelTable steps(level, 4, nullptr);
  const auto nodes = [&](const State& from) { return search(level, from, {}, {}).nodes; };
  std::uint64_t first = nodes(state), all = first;
  for (int action = 0; action < kActions; ++action) {
    if (steps.act(state, action, after)) all += nodes(after);
  }
  TableCache cache;
  std::vector<std::uint8_t> tabled(4), enough(4), short_of(4, 9);
  Solver(cache).optimal_actions(raw.data(), raw.shape, tabled.data(), {0, 1});
  Limits limits;
  limits.nodes = all;
  CHECK(all < BoxSets::count(level, 4) * static_cast<std::uint64_t>(level.cells()));  // no table
  Solver(cache, limits).optimal_actions(raw.data(), raw.shape, enough.data(), {0, 1});
  CHECK(enough == tabled);
  limits.nodes = first + 1;
  Solver(cache, limits).optimal_actions(raw.data(), raw.shape, short_of.data(), {0, 1});
  CHECK(short_of == std::vector<std::uint8_t>(4));
  // The next state begins anew.
  std::vector<std::uint8_t> twice = raw.cells;
  twice.insert(twice.end(), raw.cells.begin(), raw.cells.end());
  std::vector<std::uint8_t> masks(8);
  limits.nodes = all;
  Solver(cache, limits).optimal_actions(twice.data(), raw.shape, masks.data(), {0, 2});
  CHECK(std::equal(tabled.begin(), tabled.end(), masks.begin() + 4));
  const auto cells = static_cast<std::size_t>(raw.shape.cells());
  std::vector<std::uint8_t> everywhere(cells * 4);
  Solver(cache, limits).optimal_actions_everywhere(raw.data(), raw.shape, everywhere.data(), {0, 1});
  std::vector<std::uint8_t> everywhere_tabled(cells * 4);
  Solver(cache).optimal_actions_everywhere(raw.data(), raw.shape, everywhere_tabled.data(), {0, 1});
  CHECK(everywhere != everywhere_tabled);  // one cell's answer leaves too little for all
  for (std::size_t i = 0; i < everywhere.size(); ++i) CHECK(everywhere[i] <= everywhere_tabled[i]);
}

/// Tried and given up: neither the table nor the search after it had time.
TEST(no_time_is_no_answer) {
  const Raw raw = parse("########/#      #/# $ $  #/#    . #/# $$.. #/#  @ . #/#      #/########");
  TableCache cache;
  Limits none;
  none.seconds = 0;
  std::vector<Solution> out(1);
  Solver(cache, none).solve(raw.data(), raw.shape, Ties::First, 0, 0, out.data(), {0, 1});
  CHECK(out[0].answer.status == Status::TimeLimit && out[0].answer.distance == kUnknown);
  CHECK(cache.stats().builds == 1 && cache.stats().levels == 0);
  std::vector<std::uint8_t> masks(4, 9);
  Solver(cache, none).optimal_actions(raw.data(), raw.shape, masks.data(), {0, 1});
  CHECK(masks == std::vector<std::uint8_t>(4));
}

TEST(malformed_states_are_named) {
  auto states = mixed_states(2, 1);
  states[64 + 9] = 7;
  TableCache cache;
  std::vector<Distance> out(2);
  CHECK_THROWS(Solver(cache).distance(states.data(), kShape, out.data(), {0, 2}), ValueError);
  CHECK_THROWS(Solver(cache).distance(states.data(), {65, 8}, out.data(), {0, 0}), ValueError);
}

TEST_MAIN
