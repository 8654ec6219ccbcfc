// Positions of cells, and grids as text.
#include "core/grid.hpp"

namespace recommit {

int first_gap(const std::uint8_t* state, Shape shape, std::uint8_t wall) noexcept {
  for (int row = 0; row < shape.rows; ++row) {
    const bool whole = row == 0 || row == shape.rows - 1;
    const int stride = whole || shape.cols == 1 ? 1 : shape.cols - 1;
    for (int col = 0; col < shape.cols; col += stride) {
      if (state[row * shape.cols + col] != wall) return row * shape.cols + col;
    }
  }
  return -1;
}

std::string place_name(int row, int col) { return "row " + std::to_string(row) + ", column " + std::to_string(col); }

void append_rows(std::string& out, const std::uint8_t* state, Shape shape, const char* symbols) {
  for (int row = 0; row < shape.rows; ++row) {
    for (int col = 0; col < shape.cols; ++col) out += symbols[*state++];
    out += '\n';
  }
}

}  // namespace recommit
