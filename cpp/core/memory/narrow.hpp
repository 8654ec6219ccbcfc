// Integers copied into another width, with their bounds.
#pragma once

#include <cstddef>

namespace recommit {

template <class Integer>
struct Bounds {
  Integer smallest, largest;
};

/// Copies `count` integers, at least one, to `to` and says between what they lie. Each is read once, so what is said
/// holds for the copy, whoever writes into `from` meanwhile.
template <class From, class To>
Bounds<From> narrow(const From* from, std::size_t count, To* to) noexcept {
  Bounds<From> bounds{from[0], from[0]};
  for (std::size_t i = 0; i < count; ++i) {
    const From value = from[i];
    bounds.smallest = value < bounds.smallest ? value : bounds.smallest;
    bounds.largest = value > bounds.largest ? value : bounds.largest;
    to[i] = static_cast<To>(value);
  }
  return bounds;
}

}  // namespace recommit
