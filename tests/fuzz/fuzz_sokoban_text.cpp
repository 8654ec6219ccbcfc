// Any bytes as a file of Sokoban levels.
#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "fuzz_levels.hpp"
#include "sokoban/level_text.hpp"
#include "sokoban/simulate.hpp"

namespace {

/// Known codes, one player, as many boxes as goals, walls around; find_player throws (and so fails) on the first two.
bool valid_sokoban(const std::uint8_t* cells, recommit::Shape shape) {
  using namespace recommit::sokoban;
  check_shape(shape);
  find_player(cells, shape, 0);
  const auto count = [&](auto is) { return std::count_if(cells, cells + shape.cells(), is); };
  for (int i = 0; i < shape.cells(); ++i) {
    const int row = i / shape.cols, col = i % shape.cols;
    const bool edge = row == 0 || col == 0 || row == shape.rows - 1 || col == shape.cols - 1;
    if (edge && cells[i] != kWall) return false;
  }
  return count(is_box) == count(has_goal) && count(is_box) > 0;
}

}  // namespace

int fuzz_sokoban_text(const std::uint8_t* data, std::size_t size) {
  using namespace recommit::sokoban;
  return recommit::fuzz::check_levels(data, size, parse_levels, format_levels, valid_sokoban);
}

#ifndef RECOMMIT_FUZZ_REPLAY
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return fuzz_sokoban_text(data, size);
}
#endif
