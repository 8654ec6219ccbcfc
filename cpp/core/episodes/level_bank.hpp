// Start states that running episodes draw from.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/types.hpp"

namespace recommit {

/// What a step needs to know about a state beside its cells: where the thing that moves is (the player, the blank),
/// and how much is still wrong (boxes off goals, misplaced tiles). The state is solved iff left == 0.
struct Mover {
  std::int32_t at = 0;
  std::int32_t left = 0;
};

/// Start states that running episodes draw from. Checked once, by the puzzle that makes it; immutable afterwards, so
/// any number of pools on any threads share one bank.
struct LevelBank {
  Shape shape;
  std::vector<std::uint8_t> grids;
  std::vector<Mover> starts;  ///< one per level; left > 0 unless from survey()
  std::string task;           ///< the puzzle whose levels these are, once somebody else may hold the bank
  bool walled = false;        ///< Sokoban: the outermost cells of every level are walls

  std::size_t count() const noexcept { return starts.size(); }
  const std::uint8_t* grid(std::size_t level) const noexcept {
    return grids.data() + level * static_cast<std::size_t>(shape.cells());
  }
};

}  // namespace recommit
