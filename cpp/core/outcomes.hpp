// Where an open-loop execution writes what became of each state.
#pragma once

#include <cstdint>

namespace recommit {

/// Where an open-loop execution writes, one entry per state. `executed` counts actions up to the goal or the end of
/// the commitment; `moved` of them changed the state, the others were blocked.
struct Outcomes {
  std::uint8_t* states;
  std::int32_t* executed;
  std::uint8_t* solved;
  std::int32_t* moved;
};

}  // namespace recommit
