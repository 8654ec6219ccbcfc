// Rendering with aligned 32-byte stores (AVX2).
#include "core/draw/frame_wide.hpp"

#include "core/memory/stream.hpp"

#if defined(__x86_64__) && defined(__GNUC__)

#include <immintrin.h>

#include <array>
#include <cstring>

#define RECOMMIT_WIDE __attribute__((target("avx2")))

namespace recommit {
namespace {

constexpr std::size_t kBlock = Atlas::kChunk;

/// The pixel rows of a batch form one run of bytes, written in aligned blocks: a block shared by two sprites is the OR
/// of two loads, each of which reads zeros outside its sprite's row. An unfinished block is carried over, across rows
/// and pictures.
struct Run {
  std::uint8_t* to;    ///< the next block
  std::size_t offset;  ///< bytes of it already filled
  __m256i carry;       ///< those bytes, then zeros
};

template <bool Stream>
RECOMMIT_WIDE inline void store(std::uint8_t* to, __m256i block) noexcept {
  if constexpr (Stream) _mm256_stream_si256(reinterpret_cast<__m256i*>(to), block);
  if constexpr (!Stream) _mm256_store_si256(reinterpret_cast<__m256i*>(to), block);
}

RECOMMIT_WIDE inline __m256i load(const std::uint8_t* from) noexcept {
  return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
}

/// Appends `bytes` bytes of a sprite's row.
template <bool Stream>
RECOMMIT_WIDE inline void append(Run& run, const std::uint8_t* row, std::size_t bytes) noexcept {
  const std::uint8_t* from = row - run.offset;
  const std::size_t blocks = (run.offset + bytes) / kBlock;
  __m256i block = _mm256_or_si256(run.carry, load(from));
  for (std::size_t i = 0; i < blocks; ++i) {
    store<Stream>(run.to, block);
    run.to += kBlock;
    from += kBlock;
    block = load(from);
  }
  run.carry = block;
  run.offset = (run.offset + bytes) % kBlock;
}

/// Continue a run at `to`, where at least one block has been stored before.
RECOMMIT_WIDE inline Run resume(const std::uint8_t* to) noexcept {
  const std::size_t offset = reinterpret_cast<std::uintptr_t>(to) % kBlock;
  alignas(kBlock) std::uint8_t tail[kBlock] = {};
  std::memcpy(tail, to - offset, offset);
  return {const_cast<std::uint8_t*>(to) - offset, offset, load(tail)};
}

RECOMMIT_WIDE inline void finish(const Run& run) noexcept {
  alignas(kBlock) std::uint8_t tail[kBlock];
  store<false>(tail, run.carry);
  std::memcpy(run.to, tail, run.offset);
}

using SpriteRow = std::array<const std::uint8_t*, 64>;

template <bool Stream>
RECOMMIT_WIDE void draw(const Atlas& atlas, const View& view, const std::uint8_t* states, std::uint8_t* images,
                        std::size_t begin, std::size_t end) noexcept {
  const std::size_t bytes = atlas.row_bytes(), stride = atlas.stride(), height = static_cast<std::size_t>(atlas.cell());
  const auto cols = static_cast<std::size_t>(view.cols());
  std::uint8_t* start = images + begin * view.bytes(atlas.cell());
  Run run{start, 0, _mm256_setzero_si256()};
  bool first = true;
  SpriteRow sprites;
  for (std::size_t i = begin; i < end; ++i) {
    for (int row = 0; row < view.rows(); ++row) {
      const std::uint8_t* codes = states + i * view.cells() + view.at(row);
      for (std::size_t x = 0; x < cols; ++x) sprites[x] = atlas.sprite(codes[x]);
      std::size_t y = 0;
      if (first) {  // one row byte by byte: its first block may belong to another thread's picture
        for (std::size_t x = 0; x < cols; ++x) std::memcpy(start + x * bytes, sprites[x], bytes);
        run = resume(start + cols * bytes);
        first = false;
        y = 1;
      }
      for (; y < height; ++y) {
        for (std::size_t x = 0; x < cols; ++x) append<Stream>(run, sprites[x] + y * stride, bytes);
      }
    }
  }
  finish(run);
}

}  // namespace

bool draw_frames_wide(const Atlas& atlas, const View& view, const std::uint8_t* states, std::uint8_t* images,
                      bool stream, std::size_t begin, std::size_t end) noexcept {
  static const bool wide = __builtin_cpu_supports("avx2") != 0;
  if (!wide || view.row_bytes(atlas.cell()) < kBlock) return false;
  if (begin == end) return true;
  if (!stream) {
    draw<false>(atlas, view, states, images, begin, end);
    return true;
  }
  draw<true>(atlas, view, states, images, begin, end);
  stream_fence();
  return true;
}

}  // namespace recommit

#else

namespace recommit {

bool draw_frames_wide(const Atlas&, const View&, const std::uint8_t*, std::uint8_t*, bool, std::size_t,
                      std::size_t) noexcept {
  return false;
}

}  // namespace recommit

#endif
