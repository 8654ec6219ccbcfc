// The patch writer: from states to a vision-language model's patches.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/draw/atlas.hpp"
#include "core/draw/frame.hpp"

/// The patch writer: states straight to what the Qwen2.5-VL image processor would hand to the model. These are patches
/// of 14x14 pixels, four of them (2x2) together one visual token, each a row of channel x 2 equal time slots x 14 x 14
/// normalised values.
///
/// A picture is a grid of sprites (atlas.hpp), and there are only a few. So where cells line up with patches, the
/// patches of every sprite are normalised once (PatchAtlas), and a picture is copied together from them: no pixel is
/// computed. Where they do not line up, the picture is drawn (frame.hpp) and then cut. Both give the processor's bits,
/// because the Normalizer rounds in its order; tests/unit/test_patches.py compares.
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

/// All patches of all sprites whose side is a multiple of 14, so that making a picture's patches is copying. Immutable.
template <class T>
class PatchAtlas {
 public:
  explicit PatchAtlas(const Atlas& atlas);

  /// Where the side is a multiple of 28, the patches lie in the processor's order: token by token, row by row.
  /// Otherwise they lie in reading order.
  /// A code that is none (somebody writes into states while they are drawn) has the first one's.
  const T* patch(std::size_t code, std::size_t index) const noexcept {
    return values_.data() + ((code < codes_ ? code : 0) * per_sprite_ + index) * kPatchValues;
  }
  int side() const noexcept { return side_; }  ///< patches along one side of a sprite

 private:
  int side_;
  std::size_t per_sprite_, codes_;
  std::vector<T> values_;
};

/// Throws ValueError, saying why, for pictures that the processor would resize.
void check_patches(const View& view, int cell);

/// Rows of patches of one picture.
inline std::size_t patch_rows(const View& view, int cell) {
  return view.bytes(cell) / 3 / (std::size_t{kPatch} * kPatch);
}

/// Draws items [begin, end) straight into patches.
template <class T>
void draw_patches(const std::shared_ptr<const Atlas>& atlas, const View& view, const std::uint8_t* states, T* values,
                  bool stream, std::size_t begin, std::size_t end);

}  // namespace recommit
