// Patches of every sprite, normalised once and copied in the image processor's order.
#include "core/draw/patches.hpp"

#include <bit>
#include <cstring>
#include <string>
#include <type_traits>

#include "core/errors.hpp"
#include "core/memory/stream.hpp"
#include "core/threads/cache.hpp"

namespace recommit {
namespace {

constexpr double kMean[3] = {0.48145466, 0.4578275, 0.40821073};
constexpr double kStd[3] = {0.26862954, 0.26130258, 0.27577711};

/// Nearest bfloat16, ties to even; the values here are finite.
std::uint16_t bfloat16(float value) noexcept {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  return static_cast<std::uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

template <class T>
const Normalizer<T>& normalizer() {
  static const Normalizer<T> table;
  return table;
}

/// Row of a patch in the processor's order, given its position in a picture `cols` patches wide.
std::size_t patch_row(std::size_t y, std::size_t x, std::size_t cols) noexcept {
  return ((y / kMerge * (cols / kMerge) + x / kMerge) * kMerge + y % kMerge) * kMerge + x % kMerge;
}

/// One patch from pixels that are `pitch` bytes apart from row to row.
template <class T>
void make_patch(const std::uint8_t* pixels, std::size_t pitch, T* to) noexcept {
  constexpr std::size_t slot = kPatch * kPatch;
  const Normalizer<T>& normal = normalizer<T>();
  for (std::size_t channel = 0; channel < 3; ++channel, to += 2 * slot) {
    for (std::size_t i = 0; i < slot; ++i)
      to[i] = normal(channel, pixels[i / kPatch * pitch + i % kPatch * 3 + channel]);
    std::memcpy(to + slot, to, slot * sizeof(T));
  }
}

/// PatchAtlas, made on first use; each is up to some megabytes, so only a few are cached.
template <class T>
std::shared_ptr<const PatchAtlas<T>> patch_atlas(const std::shared_ptr<const Atlas>& atlas) {
  using Key = std::shared_ptr<const Atlas>;  // owning, so that the address stays unique
  static auto& cache = forever(new Cache<Key, PatchAtlas<T>>(8));
  return cache.get(atlas, [&] { return PatchAtlas<T>(*atlas); });
}

/// Copies runs of precomputed patches. Stream: bypass the caches.
template <class T, bool Stream>
void copy_patches(const PatchAtlas<T>& ready, const View& view, const std::uint8_t* states, T* values,
                  std::size_t begin, std::size_t end) noexcept {
  const auto side = static_cast<std::size_t>(ready.side()), rows = static_cast<std::size_t>(view.rows()),
             cols = static_cast<std::size_t>(view.cols());
  const std::size_t wide = cols * side, per_picture = rows * side * wide;
  const bool tokens = side % kMerge == 0;
  const std::size_t run = tokens ? side * kMerge : 1;  // patches that are adjacent in both
  const auto copy = [run](T* to, const T* from) {
    const std::size_t bytes = run * kPatchValues * sizeof(T);
    if constexpr (Stream)
      stream_copy(reinterpret_cast<std::uint8_t*>(to), reinterpret_cast<const std::uint8_t*>(from), bytes);
    if constexpr (!Stream) std::memcpy(to, from, bytes);
  };
  for (std::size_t i = begin; i < end; ++i) {
    T* picture = values + i * per_picture * kPatchValues;
    for (std::size_t row = 0; row < rows; ++row) {
      const std::uint8_t* codes = states + i * view.cells() + view.at(static_cast<int>(row));
      for (std::size_t col = 0; col < cols; ++col) {
        for (std::size_t k = 0; k < side * side; k += run) {
          const std::size_t y = tokens ? k / run * kMerge : k / side, x = tokens ? 0 : k % side;
          copy(picture + patch_row(row * side + y, col * side + x, wide) * kPatchValues, ready.patch(codes[col], k));
        }
      }
    }
  }
  if constexpr (Stream) stream_fence();
}

/// For cells not aligned with patches: renders pixels first.
template <class T>
void patches_of_pixels(const Atlas& atlas, const View& view, const std::uint8_t* states, T* values, std::size_t begin,
                       std::size_t end) {
  const std::size_t pitch = view.row_bytes(atlas.cell()), rows = patch_rows(view, atlas.cell());
  const std::size_t wide = pitch / 3 / kPatch;
  std::vector<std::uint8_t> picture(view.bytes(atlas.cell()));
  for (std::size_t i = begin; i < end; ++i) {
    draw_frames(atlas, view, states + i * view.cells(), picture.data(), false, 0, 1);
    for (std::size_t k = 0; k < rows; ++k) {
      const std::size_t y = k / wide, x = k % wide;
      make_patch(picture.data() + (y * pitch + x * 3) * kPatch, pitch,
                 values + (i * rows + patch_row(y, x, wide)) * kPatchValues);
    }
  }
}

}  // namespace

template <class T>
Normalizer<T>::Normalizer() {
  for (std::size_t channel = 0; channel < 3; ++channel) {
    for (int value = 0; value < 256; ++value) {
      // The processor's own order of roundings: scaled in double, kept as float, then float arithmetic.
      const auto scaled = static_cast<float>(value * (1.0 / 255.0));
      const float centred = scaled - static_cast<float>(kMean[channel]);
      const float normal = centred / static_cast<float>(kStd[channel]);
      if constexpr (std::is_same_v<T, float>) table_[channel][value] = normal;
      if constexpr (!std::is_same_v<T, float>) table_[channel][value] = bfloat16(normal);
    }
  }
}

template <class T>
PatchAtlas<T>::PatchAtlas(const Atlas& atlas)
    : side_(atlas.cell() / kPatch),
      per_sprite_(static_cast<std::size_t>(side_ * side_)),
      codes_(static_cast<std::size_t>(atlas.codes())) {
  const auto side = static_cast<std::size_t>(side_);
  values_.resize(codes_ * per_sprite_ * kPatchValues);
  for (std::size_t code = 0; code < codes_; ++code) {
    for (std::size_t k = 0; k < per_sprite_; ++k) {
      const std::size_t y = k / side, x = k % side, index = side % kMerge == 0 ? patch_row(y, x, side) : k;
      T* to = values_.data() + (code * per_sprite_ + index) * kPatchValues;
      make_patch(atlas.sprite(static_cast<std::uint8_t>(code)) + y * kPatch * atlas.stride() + x * kPatch * 3,
                 atlas.stride(), to);
    }
  }
}

void check_patches(const View& view, int cell) {
  const std::int64_t high = std::int64_t{view.rows()} * cell, wide = std::int64_t{view.cols()} * cell;
  const std::string size = std::to_string(wide) + "x" + std::to_string(high) + " pixels (" +
                           std::to_string(view.cols()) + "x" + std::to_string(view.rows()) + " cells of " +
                           std::to_string(cell) + ")";
  if (high % kToken != 0 || wide % kToken != 0) {
    throw ValueError(
        "cell: expected pictures whose sides are multiples of 28 pixels, which the image processor does not resize, "
        "got " +
        size);
  }
  if (high * wide < kMinPixels || high * wide > kMaxPixels) {
    throw ValueError("cell: expected pictures of " + std::to_string(kMinPixels) + ".." + std::to_string(kMaxPixels) +
                     " pixels, which the image processor does not resize, got " + std::to_string(high * wide) + ": " +
                     size);
  }
}

template <class T>
void draw_patches(const std::shared_ptr<const Atlas>& atlas, const View& view, const std::uint8_t* states, T* values,
                  bool stream, std::size_t begin, std::size_t end) {
  if (atlas->cell() % kPatch != 0) return patches_of_pixels(*atlas, view, states, values, begin, end);
  const auto ready = patch_atlas<T>(atlas);
  if (stream) return copy_patches<T, true>(*ready, view, states, values, begin, end);
  copy_patches<T, false>(*ready, view, states, values, begin, end);
}

template class Normalizer<float>;
template class Normalizer<std::uint16_t>;
template class PatchAtlas<float>;
template class PatchAtlas<std::uint16_t>;
template void draw_patches(const std::shared_ptr<const Atlas>&, const View&, const std::uint8_t*, float*, bool,
                           std::size_t, std::size_t);
template void draw_patches(const std::shared_ptr<const Atlas>&, const View&, const std::uint8_t*, std::uint16_t*, bool,
                           std::size_t, std::size_t);

}  // namespace recommit
