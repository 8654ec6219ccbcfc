// The four actions, and the check of one that came from a caller.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "core/errors.hpp"
#include "core/types.hpp"

namespace recommit {

/// An action as it came from the caller; anything but 0..3 is an error that names its place.
inline int checked_action(std::uint8_t action, std::size_t index) {
  if (action >= kActions) {
    throw ValueError("actions: expected values 0..3 (up, down, left, right), got " + std::to_string(action) +
                     " for state " + std::to_string(index));
  }
  return action;
}

}  // namespace recommit
