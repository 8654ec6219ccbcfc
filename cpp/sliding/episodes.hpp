// Running episodes of sliding puzzles.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "core/episodes/episodes.hpp"
#include "core/episodes/level_bank.hpp"

namespace recommit::sliding {

/// A bank of `count` boards of one shape; throws ValueError, naming the level, if one is invalid, already solved or
/// unsolvable.
std::shared_ptr<const LevelBank> make_bank(const std::uint8_t* levels, std::size_t count, Shape shape);

/// The same for any states of episodes, including solved ones.
std::shared_ptr<const LevelBank> survey(const std::uint8_t* states, std::size_t count, Shape shape);

std::unique_ptr<Episodes> make_episodes(std::shared_ptr<const LevelBank> bank, const EpisodesOptions& options);

}  // namespace recommit::sliding
