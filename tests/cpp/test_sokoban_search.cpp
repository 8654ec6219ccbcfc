// The Sokoban search and its deadlock rules against complete enumeration.
#include "sokoban/search/search.hpp"

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include "check.hpp"
#include "core/errors.hpp"
#include "sokoban/rooms/reverse_pull.hpp"
#include "sokoban/search/deadlock_corral.hpp"
#include "sokoban/search/deadlock_freeze.hpp"
#include "sokoban/search/potentials.hpp"
#include "sokoban_enumeration.hpp"

using namespace enumeration;

namespace {

SearchResult solve(const Grid& grid, Shape shape, const SearchOptions& options = {}, const Limits& limits = {}) {
  const Level level = Level::of_state(grid.data(), shape);
  State state;
  if (!level.read(grid.data(), state)) {
    SearchResult lost;
    lost.status = Status::Unsolvable;
    lost.length = kUnsolvable;
    return lost;
  }
  return search(level, state, limits, options);
}

bool plan_works(const Grid& grid, Shape shape, const SearchResult& result) {
  Grid now = grid;
  int player = find_player(now.data(), shape, 0);
  for (const std::uint8_t action : result.plan) {
    if (is_goal(now.data(), shape)) return false;
    move(now.data(), shape, player, action);
  }
  return is_goal(now.data(), shape) && static_cast<Distance>(result.plan.size()) == result.length;
}

std::vector<SearchOptions> one_off_each() {
  std::vector<SearchOptions> all(8);
  all[1].freeze = false;
  all[2].corrals = false;
  all[3].assignment = false;
  all[4].walking = false;
  all[5].sides = false;
  all[6].dominance = false;
  all[7].first = true;
  for (std::size_t i = 0; i < 8; ++i) {  // again, with everything in use from the first node
    SearchOptions eager = all[i];
    eager.climb_after = eager.corrals_after = 0;
    eager.eager_nodes = 0;
    all.push_back(eager);
  }
  return all;
}

/// Small spaces of both kinds: certified levels, and anything goes.
void each_space(int count, std::uint64_t seed, const std::function<void(const Space&, Rng&)>& body) {
  for (int i = 0; i < count; ++i) {
    Rng rng(seed, Purpose::Test, static_cast<std::uint64_t>(i));
    const Shape shape{5 + static_cast<int>(rng.below(3)), 5 + static_cast<int>(rng.below(3))};
    const int room = (shape.rows - 2) * (shape.cols - 2);
    const int boxes = 1 + static_cast<int>(rng.below(3));
    const Grid start =
        i % 2 == 0 ? reverse_level(shape, boxes, seed, static_cast<std::uint64_t>(i)).state
                   : random_level(shape, boxes, static_cast<int>(rng.below(static_cast<std::uint32_t>(room / 3))), rng);
    Space space;
    if (explore(start, shape, 60'000, space)) body(space, rng);
  }
}

bool long_tier() { return std::getenv("RECOMMIT_LONG") != nullptr; }

/// A dead rule as the tests see it: level parts, occupied cells, the player's walk.
struct Scene {
  const PushGraph& graph;
  std::vector<std::uint16_t> boxes;
  std::vector<std::uint8_t> occupied;
  std::vector<std::uint16_t> walk;
  int player;
};
using Rule = std::function<bool(const Scene&)>;

Scene scene_of(const PushGraph& graph, const State& state) {
  Scene scene{
      graph, state.boxes, std::vector<std::uint8_t>(static_cast<std::size_t>(graph.cells()) + 1), {}, state.player};
  for (const std::uint16_t box : state.boxes) scene.occupied[box] = 1;
  scene.occupied.back() = 1;
  scene.walk.assign(scene.occupied.size(), 0xFFFF);
  std::vector<int> queue{state.player};
  scene.walk[state.player] = 0;
  for (std::size_t head = 0; head < queue.size(); ++head) {
    for (int action = 0; action < kActions; ++action) {
      const auto there = static_cast<std::size_t>(graph.next(queue[head], action));
      if (scene.occupied[there] != 0 || scene.walk[there] != 0xFFFF) continue;
      scene.walk[there] = static_cast<std::uint16_t>(scene.walk[static_cast<std::size_t>(queue[head])] + 1);
      queue.push_back(static_cast<int>(there));
    }
  }
  return scene;
}

struct Tally {
  std::uint64_t states = 0, dead = 0, called = 0, wrong = 0;
};

/// Holds a rule against complete enumeration.
Tally judge(const Rule& rule, int levels, std::uint64_t most) {
  Tally tally;
  each_space(levels, 77, [&](const Space& space, Rng&) {
    if (tally.states >= most) return;
    const Level level = Level::of_state(space.states[0].data(), space.shape);
    const PushGraph graph(level);
    State state;
    for (std::size_t i = 0; i < space.states.size() && tally.states < most; ++i) {
      if (!level.read(space.states[i].data(), state)) continue;
      const bool called = rule(scene_of(graph, state)), dead = space.distance[i] == kUnsolvable;
      ++tally.states;
      tally.dead += dead;
      tally.called += called;
      tally.wrong += called && !dead;
    }
  });
  return tally;
}

bool dead_cell(const Scene& s) {
  return std::any_of(s.boxes.begin(), s.boxes.end(), [&](int box) { return !s.graph.is_live(box); });
}

bool frozen(const Scene& s) {
  Freeze freeze(s.graph);
  return std::any_of(s.boxes.begin(), s.boxes.end(), [&](int box) { return freeze.dead(box, s.occupied); });
}

bool in_corral(const Scene& s) { return Corral(s.graph).dead(s.boxes, s.occupied, s.walk, s.player); }

bool unmatched(const Scene& s) {
  if (dead_cell(s) || static_cast<int>(s.boxes.size()) > s.graph.goals()) return true;
  PushBound bound(s.graph, s.boxes.size(), true);
  bound.add(PushBound::Potential(s.occupied.size(), 0));
  std::vector<std::uint16_t> live;
  for (const int box : s.boxes) live.push_back(static_cast<std::uint16_t>(s.graph.live_of(box)));
  return !bound.set_boxes(live);
}

bool planted(const Scene& s) {  // unsound on purpose: two boxes side by side at a wall, on goals or not
  for (const int box : s.boxes) {
    for (int action = 0; action < kActions; ++action) {
      const int beside = s.graph.next(box, action);
      const bool pair = beside != s.graph.wall() && s.occupied[static_cast<std::size_t>(beside)] != 0;
      if (pair && s.graph.next(box, action ^ 2) == s.graph.wall()) return true;
    }
  }
  return false;
}

}  // namespace

TEST(golden_levels) {
  Shape shape;
  Grid grid = parse("####__/# .#__/#  ###/#*@  #/#  $ #/#  ###/####__/", shape);
  for (std::uint8_t& cell : grid) cell = cell > 6 ? std::uint8_t{kWall} : cell;  // '_' is outside
  for (const SearchOptions& options : one_off_each()) CHECK(solve(grid, shape, options).length == 33);
  grid = parse("#####/#@$.#/#####/", shape);
  const SearchResult one = solve(grid, shape);
  CHECK(one.length == 1 && one.plan == std::vector<std::uint8_t>{3} && one.status == Status::Exact);
  grid = parse("#####/#$  #/# @ #/#  .#/#####/", shape);
  CHECK(solve(grid, shape).status == Status::Unsolvable && solve(grid, shape).length == kUnsolvable);
  grid = parse("######/#    #/# $$ #/# .. #/#  @ #/######/", shape);
  CHECK(solve(grid, shape).length == 9);
  grid = parse("#####/#@*.#/#####/", shape);
  CHECK(solve(grid, shape).length == 0 && solve(grid, shape).plan.empty());
}

TEST(every_option_gives_the_enumerated_distances) {
  const std::vector<SearchOptions> options = one_off_each();
  std::uint64_t searched = 0, unsolvable = 0;
  each_space(long_tier() ? 2000 : 100, 5, [&](const Space& space, Rng& rng) {
    for (int i = 0; i < 8; ++i) {
      const std::size_t s = i == 0 ? 0 : rng.below(static_cast<std::uint32_t>(space.states.size()));
      for (const SearchOptions& each : options) {
        const SearchResult result = solve(space.states[s], space.shape, each);
        CHECK(result.length == space.distance[s]);
        CHECK((result.status == Status::Unsolvable) == (space.distance[s] == kUnsolvable));
        if (result.status == Status::Exact) CHECK(plan_works(space.states[s], space.shape, result));
        ++searched;
        unsolvable += result.status == Status::Unsolvable;
      }
    }
  });
  std::printf("  %llu searches, %llu unsolvable\n", static_cast<unsigned long long>(searched),
              static_cast<unsigned long long>(unsolvable));
  CHECK(searched > 5000 && unsolvable > 500);
}

TEST(dead_verdicts_are_true) {
  const std::uint64_t most = long_tier() ? 1'500'000 : 40'000;
  std::vector<std::pair<const char*, Rule>> rules = {
      {"dead cell", dead_cell}, {"freeze", frozen}, {"corral", in_corral}, {"no assignment", unmatched}};
  if (std::getenv("RECOMMIT_PLANT") != nullptr) rules = {{"planted", planted}};
  for (const auto& [name, rule] : rules) {
    const Tally tally = judge(rule, long_tier() ? 5000 : 150, most);
    std::printf("  %-14s %llu states, %llu dead, %llu called dead, %llu wrong\n", name,
                static_cast<unsigned long long>(tally.states), static_cast<unsigned long long>(tally.dead),
                static_cast<unsigned long long>(tally.called), static_cast<unsigned long long>(tally.wrong));
    CHECK(tally.wrong == 0);
    CHECK(tally.called > 0 && tally.states >= 20'000);
  }
}

TEST(a_planted_unsound_rule_is_caught) { CHECK(judge(planted, 60, 20'000).wrong > 0); }

TEST(bounds_are_admissible) {  // every simple potential and climbed ones, on every state
  std::uint64_t checked = 0;
  each_space(200, 9, [&](const Space& space, Rng& rng) {
    const Level level = Level::of_state(space.states[0].data(), space.shape);
    State state;
    if (!level.read(space.states[0].data(), state) || level.goals() < static_cast<int>(state.boxes.size())) return;
    const PushGraph graph(level);
    PushBound bound(graph, state.boxes.size(), true);
    bound.add(PushBound::Potential(static_cast<std::size_t>(graph.cells()) + 1, 0));
    for (PushBound::Potential& potential : simple_potentials(level, graph)) bound.add(std::move(potential));
    std::vector<BoundSample> samples;
    for (std::size_t i = 0; i < space.states.size(); i += 1 + rng.below(20)) {
      level.read(space.states[i].data(), state);
      BoundSample sample{{}, state.player};
      bool live = true;
      for (const int box : state.boxes) {
        live &= graph.is_live(box);
        if (live) sample.boxes.push_back(static_cast<std::uint16_t>(graph.live_of(box)));
      }
      if (!live || !bound.set_boxes(sample.boxes)) {
        CHECK(space.distance[i] == kUnsolvable);
        continue;
      }
      if (samples.size() < 8) {
        samples.push_back(sample);
        if (samples.size() == 8) add_climbed(graph, bound, samples, 40, rng);
        bound.set_boxes(sample.boxes);
      }
      for (std::size_t k = 0; k < bound.count() && space.distance[i] > 0; ++k) {
        CHECK(bound.bound(k, bound.value(k), sample.player) <= space.distance[i]);
        ++checked;
      }
    }
  });
  std::printf("  %llu bounds\n", static_cast<unsigned long long>(checked));
  CHECK(checked > 20'000);
}

TEST(first_plans_are_first) {
  SearchOptions options;
  options.first = true;
  int compared = 0;
  each_space(300, 21, [&](const Space& space, Rng& rng) {
    for (int i = 0; i < 6; ++i) {
      std::size_t s = rng.below(static_cast<std::uint32_t>(space.states.size()));
      if (space.distance[s] <= 0) continue;
      const SearchResult result = solve(space.states[s], space.shape, options);
      if (!result.plan_is_first) continue;
      std::vector<std::uint8_t> plan;  // greedy by distance in the order of actions
      while (space.distance[s] > 0) {
        std::uint8_t action = 0;
        const auto after = [&] { return static_cast<std::size_t>(space.next[s * 4 + action]); };
        while (space.distance[after()] != space.distance[s] - 1) ++action;
        plan.push_back(action);
        s = after();
      }
      CHECK(plan == result.plan);
      ++compared;
    }
  });
  std::printf("  %d plans compared\n", compared);
  CHECK(compared > 200);
}

TEST(limits_hold_and_bounds_stay_true) {
  const CertifiedLevel hard = reverse_level({12, 12}, 10, 7, 9);  // 53 actions
  Limits limits;
  limits.nodes = 2000;
  SearchResult result = solve(hard.state, {12, 12}, {}, limits);
  CHECK(result.status == Status::NodeLimit && result.nodes <= 2000 && result.length == kUnknown);
  CHECK(result.lower_bound > 20 && result.lower_bound <= 53);
  for (const std::uint64_t bytes :
       {std::uint64_t{0}, std::uint64_t{10'000}, std::uint64_t{300'000}, std::uint64_t{1} << 20}) {
    limits = {};
    limits.bytes = bytes;
    result = solve(hard.state, {12, 12}, {}, limits);
    CHECK(result.status == Status::ByteLimit && result.bytes <= bytes);
    CHECK(result.lower_bound <= 53);
  }
  limits = {};
  limits.seconds = 0;
  result = solve(hard.state, {12, 12}, {}, limits);
  CHECK(result.status == Status::TimeLimit && result.length == kUnknown && result.lower_bound <= 53);
}

TEST(a_stopped_watch_interrupts) {
  const CertifiedLevel hard = reverse_level({12, 12}, 10, 7, 9);
  const Level level = Level::of_state(hard.state.data(), {12, 12});
  State state;
  level.read(hard.state.data(), state);
  Watch watch;
  watch.stop();
  CHECK_THROWS(search(level, state, {}, {}, &watch), Interrupted);
}

TEST(boxoban_lengths) {
  const char* shared = std::getenv("RECOMMIT_SHARED");
  const std::string folder = std::string(shared != nullptr ? shared : "../shared") + "/data/";
  int solved = 0;
  for (const std::string set : {"boxoban-unfiltered-test", "boxoban-medium-valid", "boxoban-hard"}) {
    std::ifstream levels(folder + set + ".txt"), moves(folder + set + ".moves");
    if (!levels || !moves) {
      std::printf("  skipped: no %s%s.txt\n", folder.c_str(), set.c_str());
      return;
    }
    std::string line, rows;
    std::getline(moves, line);
    for (int index, length; moves >> index >> length;) {
      rows.clear();
      while (std::getline(levels, line) && (line.empty() || line[0] == ';')) {
      }
      for (; !line.empty() && line[0] != ';'; std::getline(levels, line)) rows += line + "/";
      Shape shape;
      const Grid grid = parse(rows, shape);
      const SearchResult result = solve(grid, shape);
      CHECK(result.length == length && plan_works(grid, shape, result));
      ++solved;
    }
  }
  std::printf("  %d levels\n", solved);
  CHECK(solved == 750);
}

TEST_MAIN
