// Integers copied into another width, with their bounds.
#pragma once

#include <cstddef>

namespace recommit {

template <class Integer>
struct Bounds {
  Integer smallest, largest;
};

/// Copies `count` integers, at least one, to `to` and says between what they lie. Each is read once, so what is said
/// holds for the copy, whoever writes into `from` meanwhile. From every integer to std::uint8_t and std::int32_t.
template <class From, class To>
Bounds<From> narrow(const From* from, std::size_t count, To* to) noexcept;

}  // namespace recommit
