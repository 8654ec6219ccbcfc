// Integers of any width copied to narrower ones.
#include "core/memory/narrow.hpp"

#include <cstdint>

namespace recommit {

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

#define RECOMMIT_NARROW(From)                                                                   \
  template Bounds<From> narrow(const From* from, std::size_t count, std::uint8_t* to) noexcept; \
  template Bounds<From> narrow(const From* from, std::size_t count, std::int32_t* to) noexcept;

RECOMMIT_NARROW(std::int8_t)
RECOMMIT_NARROW(std::int16_t)
RECOMMIT_NARROW(std::int32_t)
RECOMMIT_NARROW(std::int64_t)
RECOMMIT_NARROW(std::uint8_t)
RECOMMIT_NARROW(std::uint16_t)
RECOMMIT_NARROW(std::uint32_t)
RECOMMIT_NARROW(std::uint64_t)

#undef RECOMMIT_NARROW

}  // namespace recommit
