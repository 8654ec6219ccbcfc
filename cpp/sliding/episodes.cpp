// Banks and running episodes of sliding puzzles.
#include "sliding/episodes.hpp"

#include <array>
#include <cstring>
#include <string>
#include <utility>

#include "core/episodes/episode_pool.hpp"
#include "core/errors.hpp"
#include "sliding/simulate.hpp"

namespace recommit::sliding {
namespace {

class Game {
 public:
  explicit Game(Shape shape) noexcept : moves_(shape) {
    for (std::size_t cell = 0; cell < kMaxCells; ++cell) {
      for (std::size_t a = 0; a < kActions; ++a) open_[cell][a] = moves_.to[cell][a] != cell;
    }
  }

  /// Counts misplaced tiles instead of comparing boards: only the moved tile's status can change.
  void step(std::uint8_t* state, std::int32_t& at, std::int32_t& left, std::size_t action) const noexcept {
    const auto blank = static_cast<std::size_t>(at);
    const std::size_t target = moves_.to[blank][action];
    const std::size_t tile = state[target];  // 0, its own cell, when blocked
    state[blank] = static_cast<std::uint8_t>(tile);
    state[target] = 0;
    at = static_cast<std::int32_t>(target);
    left += (tile != blank + 1) - (tile != target + 1);
  }

  void mask(const std::uint8_t* /*state*/, std::int32_t at, std::uint8_t* out) const noexcept {
    std::memcpy(out, open_[static_cast<std::size_t>(at)].data(), kActions);
  }

 private:
  Moves moves_;
  std::array<std::array<std::uint8_t, kActions>, kMaxCells> open_{};
};

Mover start_of(const std::uint8_t* board, Shape shape, std::size_t index, bool solved_too) {
  const int blank = find_blank(board, shape, index);
  std::int32_t left = 0;
  for (int cell = 0; cell < shape.cells(); ++cell) left += board[cell] != 0 && board[cell] != cell + 1;
  if (left == 0 && !solved_too)
    throw ValueError("levels: expected boards to be solved, got a solved one in level " + std::to_string(index));
  if (!is_solvable(board, shape)) {
    throw ValueError("levels: expected solvable boards, got the wrong parity in level " + std::to_string(index));
  }
  return {blank, left};
}

std::shared_ptr<LevelBank> bank_of(const std::uint8_t* levels, std::size_t count, Shape shape, bool solved_too) {
  check_shape(shape);
  const auto n = static_cast<std::size_t>(shape.cells());
  auto bank = std::make_shared<LevelBank>();
  bank->shape = shape;
  bank->grids.assign(levels, levels + count * n);
  bank->starts.reserve(count);
  for (std::size_t i = 0; i < count; ++i) bank->starts.push_back(start_of(bank->grid(i), shape, i, solved_too));
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

}  // namespace recommit::sliding
