// Start states for running episodes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/types.hpp"

namespace recommit {

/// Derived data of a state for stepping: position of the mover (player or blank), and the number of boxes off goals or
/// misplaced tiles. The state is solved iff left == 0.
struct Mover {
  std::int32_t at = 0;
  std::int32_t left = 0;
};

/// Start states for running episodes. Checked once, by the puzzle that makes it; immutable afterwards, so pools on any
/// threads may share one bank.
struct LevelBank {
  Shape shape;
  std::vector<std::uint8_t> grids;
  std::vector<Mover> starts;  ///< one per level; left > 0 unless from survey()
  std::string task;           ///< the puzzle of the levels; set before the bank is shared
  bool walled = false;        ///< Sokoban: the outermost cells of every level are walls

  std::size_t count() const noexcept { return starts.size(); }
  const std::uint8_t* grid(std::size_t level) const noexcept {
    return grids.data() + level * static_cast<std::size_t>(shape.cells());
  }
};

}  // namespace recommit
