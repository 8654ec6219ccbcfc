// Any bytes as a file of boards.
#include <cstddef>
#include <cstdint>

#include "fuzz_levels.hpp"
#include "sliding/level_text.hpp"
#include "sliding/simulate.hpp"

int fuzz_sliding_text(const std::uint8_t* data, std::size_t size) {
  using namespace recommit::sliding;
  const auto valid = [](const std::uint8_t* cells, recommit::Shape shape) {
    check_shape(shape);
    return is_permutation(cells, shape);
  };
  return recommit::fuzz::check_levels(data, size, parse_levels, format_levels, valid);
}

#ifndef RECOMMIT_FUZZ_REPLAY
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return fuzz_sliding_text(data, size);
}
#endif
