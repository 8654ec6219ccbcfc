// The patch writer: from states to the patches of a vision-language model.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/draw/atlas.hpp"
#include "core/draw/frame.hpp"

/// The patch writer: from states directly to the output of the Qwen2.5-VL image processor: patches of 14x14 pixels,
/// four of them (2x2) per visual token, each a row of channel x 2 equal time slots x 14 x 14 normalised values.
///
/// A picture is a grid of a few sprites (atlas.hpp). So where cells are aligned with patches, the patches of every
/// sprite are normalised once (PatchAtlas) and copied: no pixel is computed. Otherwise the picture is drawn (frame.hpp)
/// and then cut. Both match the processor bit for bit, because the Normalizer rounds in the same order;
/// tests/unit/test_patches.py compares.
namespace recommit {

inline constexpr int kPatch = 14, kMerge = 2, kToken = kPatch * kMerge;
inline constexpr std::size_t kPatchValues = 3 * 2 * kPatch * kPatch;
inline constexpr std::int64_t kMinPixels = 3136, kMaxPixels = 12845056;

/// Values are float, or std::uint16_t for the bits of a bfloat16 (rounded to nearest, ties to even).
template <class T>
class Normalizer {
 public:
  Normalizer();
  T operator()(std::size_t channel, std::uint8_t value) const noexcept { return table_[channel][value]; }

 private:
  T table_[3][256];
};

/// Precomputed patches of all sprites, whose side is a multiple of 14. Immutable.
template <class T>
class PatchAtlas {
 public:
  explicit PatchAtlas(const Atlas& atlas);

  /// Where the side is a multiple of 28, the patches lie in the processor's order: token by token, row by row.
  /// Otherwise they lie in reading order. Invalid codes (from concurrent writes into states) get the first one's.
  const T* patch(std::size_t code, std::size_t index) const noexcept {
    return values_.data() + ((code < codes_ ? code : 0) * per_sprite_ + index) * kPatchValues;
  }
  int side() const noexcept { return side_; }  ///< patches along one side of a sprite

 private:
  int side_;
  std::size_t per_sprite_, codes_;
  std::vector<T> values_;
};

/// Throws ValueError, with the reason, for pictures that the processor would resize.
void check_patches(const View& view, int cell);

/// Rows of patches of one picture.
inline std::size_t patch_rows(const View& view, int cell) {
  return view.bytes(cell) / 3 / (std::size_t{kPatch} * kPatch);
}

/// Writes the patches of items [begin, end).
template <class T>
void draw_patches(const std::shared_ptr<const Atlas>& atlas, const View& view, const std::uint8_t* states, T* values,
                  bool stream, std::size_t begin, std::size_t end);

}  // namespace recommit
