// Banks and running episodes of the icy cave.
#include "ice/episodes.hpp"

#include <string>
#include <utility>

#include "core/episodes/episode_pool.hpp"
#include "core/errors.hpp"
#include "core/grid.hpp"
#include "ice/simulate.hpp"

namespace recommit::ice {
namespace {

class Game {
 public:
  explicit Game(Shape shape) noexcept : shape_(shape) {}

  void step(std::uint8_t* state, std::int32_t& at, std::int32_t& left, std::size_t action) const noexcept {
    move(state, shape_, at, action);
    left = state[at] != kPlayerOnGoal;
  }

  void mask(const std::uint8_t* state, std::int32_t at, std::uint8_t* out) const noexcept {
    for (std::size_t action = 0; action < kActions; ++action) out[action] = slide(state, shape_, at, action) != at;
  }

 private:
  Shape shape_;
};

std::shared_ptr<LevelBank> bank_of(const std::uint8_t* levels, std::size_t count, Shape shape, bool solved_too) {
  check_shape(shape);
  const auto n = static_cast<std::size_t>(shape.cells());
  auto bank = std::make_shared<LevelBank>();
  bank->shape = shape;
  bank->grids.assign(levels, levels + count * n);
  bank->walled = true;
  for (std::size_t i = 0; i < count; ++i) {
    const int player = find_player(bank->grid(i), shape, i);
    const bool solved = bank->grid(i)[player] == kPlayerOnGoal;
    if (solved && !solved_too) {
      throw ValueError("levels: expected a player off the goal, got a solved state in level " + std::to_string(i));
    }
    bank->starts.push_back({player, solved ? 0 : 1});
    bank->walled = bank->walled && first_gap(bank->grid(i), shape, kRock) < 0;
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
  return std::make_unique<EpisodePool<Game>>(std::move(bank), options);
}

}  // namespace recommit::ice
