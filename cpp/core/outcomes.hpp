// Outputs of open-loop execution.
#pragma once

#include <cstdint>

namespace recommit {

/// Outputs of open-loop execution, one entry per state. `executed` counts actions up to the goal or the end of the
/// commitment; `moved` of them changed the state, the others were blocked.
struct Outcomes {
  std::uint8_t* states;
  std::int32_t* executed;
  std::uint8_t* solved;
  std::int32_t* moved;
};

}  // namespace recommit
