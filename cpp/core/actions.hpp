// The four actions, and the check of a caller's action.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "core/errors.hpp"
#include "core/types.hpp"

namespace recommit {

/// A caller's action; values other than 0..3 raise an error with the index.
inline int checked_action(std::uint8_t action, std::size_t index) {
  if (action >= kActions) {
    throw ValueError("actions: expected values 0..3 (up, down, left, right), got " + std::to_string(action) +
                     " for state " + std::to_string(index));
  }
  return action;
}

}  // namespace recommit
