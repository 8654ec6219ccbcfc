// The icy cave: distances against a search forwards, levels, episodes and sprites.
#include <cstdint>
#include <string>
#include <vector>

#include "check.hpp"
#include "core/errors.hpp"
#include "core/grid.hpp"
#include "core/rng.hpp"
#include "ice/distances.hpp"
#include "ice/draw.hpp"
#include "ice/episodes.hpp"
#include "ice/generate.hpp"
#include "ice/level_text.hpp"
#include "ice/simulate.hpp"
#include "ice/solver.hpp"

namespace {

using namespace recommit;
using State = std::vector<std::uint8_t>;

/// Rocks and a goal anywhere, the player where there is room.
State random_state(Rng& rng, Shape shape) {
  State state(static_cast<std::size_t>(shape.cells()));
  const auto any = [&] { return rng.below(static_cast<std::uint32_t>(state.size())); };
  for (std::uint8_t& cell : state) cell = rng.below(4) == 0 ? ice::kRock : ice::kIce;
  const std::size_t goal = any();
  state[goal] = ice::kGoal;
  const std::size_t player = any();
  state[player] = player == goal ? ice::kPlayerOnGoal : ice::kPlayer;
  return state;
}

/// Fewest actions by going forwards with `move`, one ring of states after the other.
Distance searched(const State& start, Shape shape) {
  std::vector<bool> seen(start.size());
  std::vector<State> ring{start};
  for (Distance distance = 0; !ring.empty(); ++distance) {
    std::vector<State> next;
    for (const State& state : ring) {
      const int here = ice::find_player(state.data(), shape, 0);
      if (state[static_cast<std::size_t>(here)] == ice::kPlayerOnGoal) return distance;
      for (std::size_t action = 0; action < kActions; ++action) {
        State after = state;
        int player = here;
        ice::move(after.data(), shape, player, action);
        if (seen[static_cast<std::size_t>(player)]) continue;
        seen[static_cast<std::size_t>(player)] = true;
        next.push_back(after);
      }
    }
    ring.swap(next);
  }
  return kUnsolvable;
}

}  // namespace

TEST(distances_and_plans_are_those_of_a_search) {
  int dead = 0, far = 0;
  for (std::uint64_t i = 0; i < 4000; ++i) {
    Rng rng(1, Purpose::Test, i);
    const Shape shape{1 + static_cast<int>(rng.below(9)), 1 + static_cast<int>(rng.below(9))};
    const State state = random_state(rng, shape);
    Distance found = 0, length = 0;
    ice::distance(state.data(), shape, &found, 0, 1);
    CHECK(found == searched(state, shape));
    dead += found == kUnsolvable;
    far += found > 2;
    std::vector<std::uint8_t> plan;
    ice::solve(state.data(), shape, ice::Ties::Random, i, &plan, &length, 0, 1);
    CHECK(length == found && plan.size() == static_cast<std::size_t>(found < 0 ? 0 : found));
    State after = state;
    int player = ice::find_player(after.data(), shape, 0);
    for (const std::uint8_t action : plan) CHECK(ice::move(after.data(), shape, player, action));
    if (found >= 0) CHECK(after[static_cast<std::size_t>(player)] == ice::kPlayerOnGoal);
  }
  CHECK(dead > 500 && far > 200);
}

TEST(a_cave_read_again_is_analysed_anew_only_if_it_changed) {
  const Shape shape{1, 4};
  const State states{3, 0, 2, 1, 0, 3, 2, 1, 3, 2, 0, 1, 1, 2, 0, 3};  // the same cave twice, then two others
  Distance found[4];
  ice::distance(states.data(), shape, found, 0, 4);
  CHECK(found[0] == 1 && found[1] == 1 && found[2] == kUnsolvable && found[3] == 1);
}

TEST(instances_depend_on_their_number_alone) {
  const ice::Request request{{8, 9}, 3, 9};
  constexpr std::size_t count = 60, cells = 72;
  State whole(count * cells), part(20 * cells);
  Distance lengths[count], some[20];
  ice::generate(request, 5, 100, whole.data(), lengths, 0, count);
  ice::generate(request, 5, 130, part.data(), some, 0, 20);
  CHECK(std::equal(part.begin(), part.end(), whole.begin() + 30 * cells) && std::equal(some, some + 20, lengths + 30));
  for (std::size_t i = 0; i < count; ++i) {
    const State state(whole.begin() + static_cast<std::ptrdiff_t>(i * cells),
                      whole.begin() + static_cast<std::ptrdiff_t>((i + 1) * cells));
    CHECK(lengths[i] >= 3 && lengths[i] <= 9 && searched(state, request.shape) == lengths[i]);
    CHECK(first_gap(state.data(), request.shape, ice::kRock) < 0);
  }
  State none(16);
  Distance length = 0;
  CHECK_THROWS(ice::generate({{4, 4}, 20, 20}, 0, 0, none.data(), &length, 0, 1), ValueError);
  CHECK_THROWS(ice::check_request({{2, 8}, 1, 2}), ValueError);
  CHECK_THROWS(ice::check_request({{8, 8}, 3, 2}), ValueError);
}

TEST(episodes_end_when_the_player_rests_on_the_goal) {
  const Shape shape{1, 4};
  const State level{3, 2, 0, 1};  // to the right it slides over the goal; nothing solves this
  const State solvable{3, 0, 2, 1};
  const auto run = [&](const State& start) {
    const auto episodes = ice::make_episodes(ice::make_bank(start.data(), 1, shape), {1, 9, Autoreset::Disabled, 1});
    const std::uint8_t right = 3;
    float reward = 0;
    std::uint8_t terminated = 0, truncated = 0, masks[kActions];
    episodes->step(&right, {&reward, &terminated, &truncated, nullptr, masks});
    CHECK(masks[2] == 1 && masks[3] == 0);
    return terminated != 0 && reward > 0;
  };
  CHECK(!run(level));
  CHECK(run(solvable));
  const State solved{0, 0, 4, 1};
  CHECK_THROWS(ice::make_bank(solved.data(), 1, shape), ValueError);
}

TEST(sprites_differ) {
  for (const Theme theme : {Theme::Light, Theme::Dark}) {
    for (int cell = kMinCell; cell <= kMaxCell; ++cell) {
      std::vector<State> seen;
      for (int code = 0; code < ice::kCells; ++code) {
        const Canvas drawn = ice::sprites().draw(code, cell, theme);
        seen.emplace_back(drawn.data(), drawn.data() + 3 * cell * cell);
        for (int other = 0; other < code; ++other) CHECK(seen[static_cast<std::size_t>(other)] != seen.back());
      }
    }
  }
}

TEST(text_is_read_as_it_was_written) {
  const Pack pack = ice::parse_levels(Text("; 6\nfirst\n%%%%%\n%@-_%  \n% . %\n%%%%%\n\n; 7\n%%%\n%+%\n%%%\n"));
  CHECK(pack.shapes.size() == 2 && pack.titles[0] == "first" && pack.titles[1] == "7");
  for (const PackFormat format : {PackFormat::Xsb, PackFormat::Plain}) {
    Pack plain = pack;
    if (format == PackFormat::Plain) plain.titles.assign(2, "");
    const Pack again = ice::parse_levels(Text(ice::format_levels(plain, format)));
    CHECK(again.cells == pack.cells && again.shapes == pack.shapes && again.titles == plain.titles);
  }
  CHECK_THROWS(ice::parse_levels(Text("%%%\n%@%\n%%%\n")), LevelError);
  CHECK(ice::owns("%@. %") && !ice::owns("% of something") && !ice::owns("#@.#"));
}

TEST_MAIN
