// Copying integers to another width, with their bounds.
#pragma once

#include <cstddef>

namespace recommit {

template <class Integer>
struct Bounds {
  Integer smallest, largest;
};

/// Copies `count` integers, at least one, to `to` and returns their bounds. Each is read once, so the bounds hold for
/// the copy even under concurrent writes to `from`. For all integer types, to std::uint8_t and std::int32_t.
template <class From, class To>
Bounds<From> narrow(const From* from, std::size_t count, To* to) noexcept;

}  // namespace recommit
