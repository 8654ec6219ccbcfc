// Rendering of states by copying sprites, fully or incrementally, and decoding of pictures.
#include "core/draw/frame.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <type_traits>
#include <utility>

#include "core/draw/frame_wide.hpp"
#include "core/errors.hpp"
#include "core/grid.hpp"

#if defined(__GNUC__)
#define RECOMMIT_INLINE inline __attribute__((always_inline))
#else
#define RECOMMIT_INLINE inline
#endif

namespace recommit {
namespace {

constexpr std::size_t kChunk = Atlas::kChunk;
constexpr std::size_t kMaxChunks = (3 * std::size_t{kMaxCell} + kChunk - 1) / kChunk;
constexpr int kMaxCols = 64;

/// One row of one sprite as whole chunks; the last one may run past the row's end.
template <std::size_t Chunks>
RECOMMIT_INLINE void put_chunks(std::uint8_t* to, const std::uint8_t* from) noexcept {
  for (std::size_t i = 0; i < Chunks; ++i) std::memcpy(to + i * kChunk, from + i * kChunk, kChunk);
}

/// One row of one sprite, exactly `bytes` long: the last copy overlaps the previous one.
template <std::size_t Chunks>
RECOMMIT_INLINE void put_exactly(std::uint8_t* to, const std::uint8_t* from, std::size_t bytes) noexcept {
  if constexpr (Chunks > 1) {
    put_chunks<Chunks - 1>(to, from);
    std::memcpy(to + bytes - kChunk, from + bytes - kChunk, kChunk);
  } else if (bytes >= 16) {
    std::memcpy(to, from, 16);
    std::memcpy(to + bytes - 16, from + bytes - 16, 16);
  } else {  // 12..15: cells of 4 pixels
    std::memcpy(to, from, 8);
    std::memcpy(to + bytes - 8, from + bytes - 8, 8);
  }
}

struct Job {
  const Atlas& atlas;
  const View& view;
  const std::uint8_t* states;
  std::uint8_t* drawn;
  std::uint8_t* images;
  std::size_t begin, end;
};

using SpriteRow = std::array<const std::uint8_t*, kMaxCols>;

/// The sprites of one row of cells.
RECOMMIT_INLINE void look_up(const Job& job, const std::uint8_t* state, int row, SpriteRow& sprites) noexcept {
  const std::uint8_t* cells = state + job.view.at(row);
  for (int x = 0; x < job.view.cols(); ++x) sprites[static_cast<std::size_t>(x)] = job.atlas.sprite(cells[x]);
}

/// Whole pictures, row by row: bytes written past a sprite's row are overwritten by the next sprite; the last sprites
/// of each row are written exactly.
template <std::size_t Chunks>
RECOMMIT_INLINE void draw_all(const Job& job) noexcept {
  const std::size_t bytes = job.atlas.row_bytes(), stride = job.atlas.stride(),
                    cols = static_cast<std::size_t>(job.view.cols());
  const std::size_t rows = static_cast<std::size_t>(job.atlas.cell()),
                    careful = std::min(cols, (Chunks * kChunk - 1) / bytes);
  SpriteRow sprites;
  for (std::size_t i = job.begin; i < job.end; ++i) {
    std::uint8_t* to = job.images + i * job.view.bytes(job.atlas.cell());
    for (int row = 0; row < job.view.rows(); ++row) {
      look_up(job, job.states + i * job.view.cells(), row, sprites);
      for (std::size_t y = 0; y < rows; ++y) {
        std::size_t x = 0;
        for (; x < cols - careful; ++x, to += bytes) put_chunks<Chunks>(to, sprites[x] + y * stride);
        for (; x < cols; ++x, to += bytes) put_exactly<Chunks>(to, sprites[x] + y * stride, bytes);
      }
    }
  }
}

template <std::size_t Chunks>
RECOMMIT_INLINE void redraw_cell(const Job& job, std::uint8_t* image, std::size_t cell, std::uint8_t code) noexcept {
  const std::size_t bytes = job.atlas.row_bytes(), stride = job.atlas.stride(),
                    pitch = job.view.row_bytes(job.atlas.cell());
  const std::size_t cols = static_cast<std::size_t>(job.view.grid.cols),
                    border = static_cast<std::size_t>(job.view.border);
  const std::size_t rows = static_cast<std::size_t>(job.atlas.cell());
  const std::size_t row = cell / cols - border, col = cell % cols - border;  // wraps around for the ring
  if (row >= static_cast<std::size_t>(job.view.rows()) || col >= static_cast<std::size_t>(job.view.cols())) return;
  const std::uint8_t* from = job.atlas.sprite(code);
  std::uint8_t* to = image + row * rows * pitch + col * bytes;
  for (std::size_t y = 0; y < rows; ++y) put_exactly<Chunks>(to + y * pitch, from + y * stride, bytes);
}

/// Compares eight cells at a time. Changes in a cropped ring are recorded but not drawn.
template <std::size_t Chunks>
RECOMMIT_INLINE void redraw_all(const Job& job) noexcept {
  const std::size_t cells = job.view.cells();
  for (std::size_t i = job.begin; i < job.end; ++i) {
    const std::uint8_t* now = job.states + i * cells;
    std::uint8_t* before = job.drawn + i * cells;
    std::uint8_t* image = job.images + i * job.view.bytes(job.atlas.cell());
    for (std::size_t first = 0; first < cells; first += 8) {
      const std::size_t count = std::min<std::size_t>(8, cells - first);
      if (count == 8) {
        std::uint64_t a, b;
        std::memcpy(&a, now + first, 8);
        std::memcpy(&b, before + first, 8);
        if (a == b) continue;
      }
      for (std::size_t cell = first; cell < first + count; ++cell) {
        if (now[cell] == before[cell]) continue;
        redraw_cell<Chunks>(job, image, cell, now[cell]);
        before[cell] = now[cell];
      }
    }
  }
}

#if defined(__x86_64__) && defined(__GNUC__)
template <std::size_t Chunks>
__attribute__((target("avx2"))) void redraw_wide(const Job& job) noexcept {
  redraw_all<Chunks>(job);
}
bool wide() {
  static const bool yes = __builtin_cpu_supports("avx2") != 0;
  return yes;
}
#else
template <std::size_t Chunks>
void redraw_wide(const Job& job) noexcept {
  redraw_all<Chunks>(job);
}
bool wide() { return false; }
#endif

/// Calls the loop specialised for the atlas's chunks per sprite row.
template <class Loop>
void dispatch(const Atlas& atlas, const Loop& loop) {
  const std::size_t chunks = (atlas.row_bytes() - 1) / kChunk;
  const auto one_of = [&]<std::size_t... I>(std::index_sequence<I...>) {
    ((chunks == I ? loop(std::integral_constant<std::size_t, I + 1>{}) : void()), ...);
  };
  one_of(std::make_index_sequence<kMaxChunks>{});
}

/// True if the picture shows this sprite at `at`.
bool shows(const Atlas& atlas, std::size_t code, const std::uint8_t* at, std::size_t pitch) noexcept {
  const std::uint8_t* sprite = atlas.sprite(static_cast<std::uint8_t>(code));
  for (std::size_t y = 0; y < static_cast<std::size_t>(atlas.cell()); ++y) {
    if (std::memcmp(at + y * pitch, sprite + y * atlas.stride(), atlas.row_bytes()) != 0) return false;
  }
  return true;
}

/// The code shown at `at`, or codes() if none; tries the previous answer first.
std::size_t read_cell(const Atlas& atlas, const std::uint8_t* at, std::size_t pitch, std::size_t guess) noexcept {
  if (shows(atlas, guess, at, pitch)) return guess;
  const auto codes = static_cast<std::size_t>(atlas.codes());
  std::size_t code = 0;
  while (code < codes && !shows(atlas, code, at, pitch)) ++code;
  return code;
}

}  // namespace

View cropped(Shape grid) {
  if (grid.rows < 3 || grid.cols < 3) {
    throw ValueError("crop: expected at least 3 by 3 cells, got " + std::to_string(grid.rows) + " by " +
                     std::to_string(grid.cols));
  }
  return {grid, 1};
}

void check_ring(const View& view, const std::uint8_t* state, std::size_t index, std::uint8_t wall, const char* walls) {
  const int gap = view.border == 0 ? -1 : first_gap(state, view.grid, wall);
  if (gap < 0) return;
  throw ValueError(std::string("crop: expected an outer ring of ") + walls + ", got code " +
                   std::to_string(state[gap]) + " in state " + std::to_string(index) + " at " +
                   place_name(gap / view.grid.cols, gap % view.grid.cols));
}

std::string shown_place(const View& view, std::size_t image, int cell) {
  return std::to_string(image) + " at " +
         place_name(cell / view.grid.cols - view.border, cell % view.grid.cols - view.border);
}

void draw_frames(const Atlas& atlas, const View& view, const std::uint8_t* states, std::uint8_t* images, bool stream,
                 std::size_t begin, std::size_t end) {
  if (draw_frames_wide(atlas, view, states, images, stream, begin, end)) return;
  draw_frames_plain(atlas, view, states, images, begin, end);
}

void draw_frames_plain(const Atlas& atlas, const View& view, const std::uint8_t* states, std::uint8_t* images,
                       std::size_t begin, std::size_t end) {
  const Job job{atlas, view, states, nullptr, images, begin, end};
  dispatch(atlas, [&](auto chunks) { draw_all<chunks>(job); });
}

void redraw_frames(const Atlas& atlas, const View& view, const std::uint8_t* states, std::uint8_t* drawn,
                   std::uint8_t* images, std::size_t begin, std::size_t end) {
  const Job job{atlas, view, states, drawn, images, begin, end};
  if (wide()) {
    dispatch(atlas, [&](auto chunks) { redraw_wide<chunks>(job); });
  } else {
    dispatch(atlas, [&](auto chunks) { redraw_all<chunks>(job); });
  }
}

void read_frames(const Atlas& atlas, const View& view, std::uint8_t outside, const std::uint8_t* images,
                 std::uint8_t* states, std::size_t begin, std::size_t end) {
  const std::size_t pitch = view.row_bytes(atlas.cell()), cell = static_cast<std::size_t>(atlas.cell());
  for (std::size_t i = begin; i < end; ++i) {
    std::uint8_t* state = states + i * view.cells();
    const std::uint8_t* image = images + i * view.bytes(atlas.cell());
    std::memset(state, outside, view.cells());
    std::size_t code = 0;
    for (int row = 0; row < view.rows(); ++row) {
      for (int col = 0; col < view.cols(); ++col) {
        const std::uint8_t* at =
            image + static_cast<std::size_t>(row) * cell * pitch + static_cast<std::size_t>(col) * atlas.row_bytes();
        code = read_cell(atlas, at, pitch, code);
        if (code == static_cast<std::size_t>(atlas.codes())) {
          throw ValueError("images: expected one of " + std::to_string(atlas.codes()) + " sprites of " +
                           std::to_string(cell) + " pixels, got something else in image " + std::to_string(i) + " at " +
                           place_name(row, col));
        }
        state[view.at(row) + static_cast<std::size_t>(col)] = static_cast<std::uint8_t>(code);
      }
    }
  }
}

}  // namespace recommit
