// The numbers of python/recommit/puzzles/signature.py without Python, so that any compiler for any machine can be
// checked:
//   c++ -std=c++20 -Icpp bench/signature.cpp $(find cpp/core cpp/sliding cpp/sokoban -name "*.cpp") -pthread
#include <bit>
#include <cinttypes>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <vector>

#include "core/draw/atlas.hpp"
#include "core/draw/frame.hpp"
#include "core/draw/patches.hpp"
#include "core/draw/theme.hpp"
#include "core/rng.hpp"
#include "core/types.hpp"
#include "sliding/draw.hpp"
#include "sliding/random_walk.hpp"
#include "sliding/simulate.hpp"
#include "sokoban/draw.hpp"
#include "sokoban/generate.hpp"
#include "sokoban/simulate.hpp"

namespace recommit {
namespace {

constexpr std::uint64_t kSeed = 7, kStart = 1000;
constexpr std::size_t kBoards = 64, kSteps = 64, kFrames = 4;

using Bytes = std::vector<std::uint8_t>;

/// 64 bits that depend on every byte of every piece, and on their order.
class Digest {
 public:
  void add(const Bytes& piece) noexcept {
    std::uint64_t sum = piece.size();
    for (std::size_t at = 0, word_index = 1; at < piece.size(); at += 8, ++word_index) {
      std::uint64_t word = 0;
      for (std::size_t i = 0; i < 8 && at + i < piece.size(); ++i) word |= std::uint64_t{piece[at + i]} << (8 * i);
#ifdef RECOMMIT_PLANT_DEFECT
      std::memcpy(&word, "as if read", sizeof word);  // what the check of platforms must notice
#endif
      sum += Rng::mix(word ^ Rng::mix(word_index));
    }
    total_ = Rng::mix(total_ ^ sum);
  }
  std::uint64_t value() const noexcept { return total_; }

 private:
  std::uint64_t total_ = 0;
};

using Step = void (*)(const std::uint8_t*, Shape, const std::uint8_t*, std::uint8_t*, std::size_t, std::size_t);
using Look = void (*)(const std::uint8_t*, Shape, std::uint8_t*, std::size_t, std::size_t);

struct Task {
  Shape shape;
  int boxes;  ///< 0: a sliding puzzle
  Bytes boards(std::size_t count) const {
    Bytes out(count * static_cast<std::size_t>(shape.cells()));
    if (boxes == 0) {
      sliding::generate_walks(shape, kSeed, kStart, out.data(), 0, count);
    } else {
      std::vector<Distance> lengths(count);
      const sokoban::Request request{shape, boxes, 1, sokoban::Request::kLongest};
      sokoban::generate(request, kSeed, kStart, out.data(), lengths.data(), 0, count);
    }
    return out;
  }
  View view() const { return boxes == 0 ? sliding::view(shape, false) : sokoban::view(shape, false); }
  std::shared_ptr<const Atlas> atlas(int cell, Theme theme) const {
    return recommit::atlas(boxes == 0 ? sliding::sprites() : sokoban::sprites(), cell, theme);
  }
  Step step() const { return boxes == 0 ? sliding::step : sokoban::step; }
  Look masks() const { return boxes == 0 ? sliding::action_masks : sokoban::action_masks; }
  Look solved() const { return boxes == 0 ? sliding::is_solved : sokoban::is_solved; }
};

const Task kTasks[] = {{{2, 2}, 0}, {{3, 3}, 0}, {{3, 5}, 0},   {{4, 4}, 0},
                       {{5, 5}, 0}, {{8, 8}, 2}, {{10, 10}, 4}, {{7, 12}, 3}};

std::uint64_t generated() {
  Digest digest;
  for (const Task& task : kTasks) digest.add(task.boards(kBoards));
  return digest.value();
}

std::uint64_t simulated() {
  Digest digest;
  for (const Task& task : kTasks) {
    Bytes states = task.boards(kBoards), next(states.size()), actions(kBoards), masks(kBoards * kActions),
          solved(kBoards);
    for (std::uint64_t step = 0; step < kSteps; ++step) {
      for (std::size_t i = 0; i < kBoards; ++i) {
        actions[i] = static_cast<std::uint8_t>(Rng::mix((step << 32) + i) >> 62);
      }
      task.step()(states.data(), task.shape, actions.data(), next.data(), 0, kBoards);
      states.swap(next);
      task.masks()(states.data(), task.shape, masks.data(), 0, kBoards);
      task.solved()(states.data(), task.shape, solved.data(), 0, kBoards);
      digest.add(states);
      digest.add(masks);
      digest.add(solved);
    }
  }
  return digest.value();
}

std::uint64_t rendered() {
  Digest digest;
  for (const Task& task : kTasks) {
    const Bytes states = task.boards(kFrames);
    for (const Theme theme : kThemes) {
      for (const int cell : {4, 9, 28, 56}) {
        Bytes images(kFrames * task.view().bytes(cell));
        draw_frames(*task.atlas(cell, theme), task.view(), states.data(), images.data(), false, 0, kFrames);
        digest.add(images);
      }
    }
  }
  return digest.value();
}

/// The bits of numbers, lowest byte first on every machine.
template <class T>
Bytes little_endian(const std::vector<T>& values) {
  Bytes out;
  out.reserve(values.size() * sizeof(T));
  for (const T value : values) {
    std::uint32_t bits = 0;
    if constexpr (sizeof(T) == 4) {
      bits = std::bit_cast<std::uint32_t>(value);
    } else {
      bits = value;
    }
    for (std::size_t i = 0; i < sizeof(T); ++i) out.push_back(static_cast<std::uint8_t>(bits >> (8 * i)));
  }
  return out;
}

template <class T>
void add_patches(Digest& digest, const Task& task, const Bytes& states) {
  constexpr int kCell = 28;
  std::vector<T> values(kFrames * patch_rows(task.view(), kCell) * kPatchValues);
  draw_patches(task.atlas(kCell, Theme::Light), task.view(), states.data(), values.data(), false, 0, kFrames);
  digest.add(little_endian(values));
}

std::uint64_t patched() {
  Digest digest;
  for (const Task& task : kTasks) {
    const Bytes states = task.boards(kFrames);
    add_patches<float>(digest, task, states);
    add_patches<std::uint16_t>(digest, task, states);
  }
  return digest.value();
}

}  // namespace
}  // namespace recommit

int main() {
  std::printf("{\n  \"gen\": \"%016" PRIx64 "\",\n", recommit::generated());
  std::printf("  \"sim\": \"%016" PRIx64 "\",\n", recommit::simulated());
  std::printf("  \"render\": \"%016" PRIx64 "\",\n", recommit::rendered());
  std::printf("  \"patches\": \"%016" PRIx64 "\"\n}\n", recommit::patched());
}
