// Any bytes as a file of caves.
#include <cstddef>
#include <cstdint>

#include "fuzz_levels.hpp"
#include "ice/level_text.hpp"

int fuzz_ice_text(const std::uint8_t* data, std::size_t size) {
  using namespace recommit::ice;
  return recommit::fuzz::check_levels(data, size, parse_levels, format_levels, recognises);
}

#ifndef RECOMMIT_FUZZ_REPLAY
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) { return fuzz_ice_text(data, size); }
#endif
