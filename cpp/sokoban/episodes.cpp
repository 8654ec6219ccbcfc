// Banks and running episodes of Sokoban.
#include "sokoban/episodes.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "core/episodes/episode_pool.hpp"
#include "core/errors.hpp"
#include "core/grid.hpp"
#include "sokoban/rules.hpp"
#include "sokoban/simulate.hpp"

namespace recommit::sokoban {
namespace {

template <class Grid>
class Game {
 public:
  explicit Game(Shape shape) noexcept : grid_(shape) {}

  void step(std::uint8_t* state, std::int32_t& at, std::int32_t& left, std::size_t action) const noexcept {
    const Effect& effect = grid_.look(state, at, action).effect();
    left += effect.left;
    apply(effect, state, at, grid_.stride(action));
  }

  void mask(const std::uint8_t* state, std::int32_t at, std::uint8_t* out) const noexcept {
    const auto open = grid_.open(state, at);  // local, so that the stores cannot alias later reads
    std::memcpy(out, open.data(), kActions);
  }

 private:
  Grid grid_;
};

Mover start_of(const std::uint8_t* level, Shape shape, std::size_t index, bool solved_too) {
  const int player = find_player(level, shape, index);
  const auto n = static_cast<std::size_t>(shape.cells());
  const auto count = [&](auto matches) { return static_cast<std::int32_t>(std::count_if(level, level + n, matches)); };
  const std::int32_t left = count([](std::uint8_t cell) { return cell == kBox; });
  const std::int32_t empty = count([](std::uint8_t cell) { return cell == kGoal || cell == kPlayerOnGoal; });
  if (left == 0 && !solved_too)
    throw ValueError("levels: expected a box off its goal, got a solved state in level " + std::to_string(index));
  if (left > empty) {
    throw ValueError("levels: expected a goal for every box, got " + std::to_string(left - empty) +
                     " boxes too many in level " + std::to_string(index));
  }
  return {player, left};
}

std::shared_ptr<LevelBank> bank_of(const std::uint8_t* levels, std::size_t count, Shape shape, bool solved_too) {
  check_shape(shape);
  const auto n = static_cast<std::size_t>(shape.cells());
  auto bank = std::make_shared<LevelBank>();
  bank->shape = shape;
  bank->grids.assign(levels, levels + count * n);
  bank->starts.reserve(count);
  bank->walled = true;
  for (std::size_t i = 0; i < count; ++i) {
    bank->starts.push_back(start_of(bank->grid(i), shape, i, solved_too));
    bank->walled = bank->walled && first_gap(bank->grid(i), shape, kWall) < 0;
  }
  return bank;
}

}  // namespace

std::shared_ptr<const LevelBank> make_bank(const std::uint8_t* levels, std::size_t count, Shape shape) {
  return bank_of(levels, count, shape, false);
}

std::shared_ptr<const LevelBank> survey(const std::uint8_t* states, std::size_t count, Shape shape) {
  return bank_of(states, count, shape, true);
}

std::unique_ptr<Episodes> make_episodes(std::shared_ptr<const LevelBank> bank, const EpisodesOptions& options) {
  if (bank->walled) return std::make_unique<EpisodePool<Game<WalledGrid>>>(std::move(bank), options);
  return std::make_unique<EpisodePool<Game<OpenGrid>>>(std::move(bank), options);
}

}  // namespace recommit::sokoban
