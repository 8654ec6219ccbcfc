// Distances of all boards of a small shape.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/threads/watch.hpp"
#include "core/types.hpp"

namespace recommit::sliding {

/// Distance and optimal actions of every state of a board of up to ten cells, a byte each, indexed by the state's
/// number among all permutations in lexicographic order. Made once per process (3x3 in some 50 ms, 2x5 in half a
/// second), immutable, shared by all threads.
class FullTable {
 public:
  static constexpr int kMaxTableCells = 10;
  static constexpr std::uint8_t kNone = 255;  ///< not solvable

  static bool covers(Shape shape) noexcept { return shape.cells() <= kMaxTableCells; }
  /// Two bytes for every permutation, four for every solvable one.
  static std::size_t bytes_for(Shape shape) noexcept;
  /// The shared table of this process; waits while another thread makes it.
  static std::shared_ptr<const FullTable> shared(Shape shape, Watch* watch = nullptr);

  FullTable(Shape shape, Watch* watch);

  /// out[i] = distance of states[i], or kUnsolvable; throws ValueError unless it is a permutation.
  void distances(const std::uint8_t* states, Distance* out, std::size_t begin, std::size_t end) const;
  /// masks[i][a]: 1 if action a lowers the distance of states[i]. Throws like `distances`.
  void optimal_actions(const std::uint8_t* states, std::uint8_t* masks, std::size_t begin, std::size_t end) const;
  /// For a single state, which must be a permutation.
  Distance distance(const std::uint8_t* state) const noexcept;
  /// The same: bit a is set iff action a lowers the distance.
  unsigned optimal_actions(const std::uint8_t* state) const noexcept;

  Shape shape() const noexcept { return shape_; }
  std::size_t bytes() const noexcept { return bytes_for(shape_); }
  Distance farthest() const noexcept { return static_cast<Distance>(layers_.size()) - 2; }
  /// Number of states at this distance.
  std::uint32_t layer_size(Distance distance) const noexcept;
  /// State number `index` (in lexicographic order) of a layer.
  void layer_state(Distance distance, std::uint32_t index, std::uint8_t* out) const noexcept;

 private:
  void search(Watch* watch);

  Shape shape_;
  std::vector<std::uint8_t> distance_, optimal_;
  std::vector<std::uint32_t> by_layer_;  // numbers of all solvable states, ascending within a layer
  std::vector<std::uint32_t> layers_;    // start of each layer, and the end
};

}  // namespace recommit::sliding
