// Depth-first descent of a search tree, with incrementally updated bounds.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <vector>

#include "core/memory/prefetch.hpp"
#include "sliding/patterns/pattern_build.hpp"
#include "sliding/search/automaton.hpp"
#include "sliding/search/model.hpp"
#include "sliding/search/packed_board.hpp"

namespace recommit::sliding {

// A child's info bits: moved tile, its patterns, whether it moves away from its goal, and the action.
inline constexpr int kPatternBit = 8, kFartherBit = 16, kActionBit = 20;

/// Constant data, stored contiguously and shared by the descents of a search.
struct Ground {
  void set(const Model& model, const Automaton& automaton, int views) {
    rows = automaton.rows();
    for (std::size_t t = 0; t < kMaxCells; ++t) {
      for (std::size_t cell = 0; cell < kMaxCells; ++cell) farther[t][cell] = model.farther()[t][cell];
      tile[t] = static_cast<std::uint32_t>(t);
      for (int v = 0; v < views; ++v) {
        tile[t] |= std::uint32_t{model.view(v).pattern[t]} << (kPatternBit + 4 * v);
      }
    }
    for (int p = 0; p < model.patterns(); ++p) table[static_cast<std::size_t>(p)] = model.table(p);
    for (int v = 0; v < views; ++v) view[static_cast<std::size_t>(v)] = model.view(v);
  }
  const Automaton::Row* rows = nullptr;
  std::array<const std::uint8_t*, kMaxPatterns> table{};
  std::array<std::array<std::uint8_t, 32>, 32> farther{};
  std::array<std::uint32_t, kMaxCells> tile{};  // tile number and patterns, in a child's format
  std::array<View, 2> view{};
};

/// A depth-first descent through one tree of boards, in action order, compiled for each shape and number of views (0:
/// taxicab distance alone). A node takes two steps, so that a search may do something else in between:
///   propose()  finds the successors and asks the memory for their pattern values;
///   judge()    reads the values and keeps the successors that fit.
///
/// Slack is half of the allowed excess of the plan's length over the taxicab distance; a move away from a tile's goal
/// costs one. Pattern values have the same unit, so a board is pruned when their sum exceeds its slack.
template <int Rows, int Cols, int Views>
class Descent {
 public:
  using Number = Automaton::Number;
  static constexpr std::size_t kCells = static_cast<std::size_t>(Rows) * static_cast<std::size_t>(Cols);
  static constexpr std::size_t kViews = Views == 0 ? 1 : Views;
  using Board = std::conditional_t<(kCells <= 16), Nibbles, ByteCells>;

  /// A board with derived data. Byte p of others[v] is the sum of all pattern values of view v except that of pattern
  /// p, to which the new value of a moved pattern is added.
  struct Node {
    std::array<Board, kViews> board{};
    std::array<std::array<std::uint32_t, kMaxPatterns>, kViews> number{};
    std::array<std::uint64_t, kViews> others{};
    std::array<std::int32_t, kViews> sum{};
    std::int32_t manhattan = 0, slack = 0;
    std::uint32_t blank = 0;
    Number state = 0;
  };

  explicit Descent(const Ground& ground) : ground_(&ground) {}
  Descent(const Descent&) = delete;
  Descent& operator=(const Descent&) = delete;

  const Node& node() const noexcept { return top_->node; }
  std::size_t level() const noexcept { return static_cast<std::size_t>(top_ - frames_.get()); }
  bool at_goal() const noexcept { return node().manhattan == 0; }
  void append_plan(std::vector<std::uint8_t>& plan) const {
    for (std::size_t i = 0; i < level(); ++i) plan.push_back(static_cast<std::uint8_t>(frames_[i].action));
  }

  /// Starts at a board; plans of up to taxicab distance + 2 * slack actions fit.
  void begin(const Node& node) {
    const auto frames = static_cast<std::size_t>(node.manhattan + 2 * node.slack + 2);
    if (frames > count_) frames_ = std::make_unique_for_overwrite<Frame[]>(count_ = frames);
    top_ = frames_.get();
    top_->node = node;
  }

  void propose() {
    Frame& frame = *top_;
    const Automaton::Row row = ground_->rows[frame.node.state];
    unsigned count = 0;
    if (row[0] != 0) count = try_action<0>(frame, count);
    if (row[1] != 0) count = try_action<1>(frame, count);
    if (row[2] != 0) count = try_action<2>(frame, count);
    if (row[3] != 0) count = try_action<3>(frame, count);
    frame.count = count;
  }

  void judge() {
    Frame& frame = *top_;
    unsigned todo = 0;
    for (unsigned i = 0; i < frame.count; ++i) todo |= fits(frame.node, frame.child[i]) << i;
    frame.todo = todo;
  }

  /// Advances to the next node: a successor of this one, or of the nearest ancestor with any left. False at the end.
  bool advance() {
    while (top_->todo == 0) {
      if (top_ == frames_.get()) return false;
      --top_;
    }
    Frame& frame = *top_++;
    const Child& child = frame.child[static_cast<unsigned>(std::countr_zero(frame.todo))];
    frame.todo &= frame.todo - 1;
    frame.action = child.info >> kActionBit & 3;
    follow(frame.node, child, frame.action, top_->node);
    return true;
  }

  /// Skips the node's subtree.
  void skip() noexcept { top_->todo = 0; }

  static constexpr std::size_t turned(std::size_t cell) noexcept {
    return cell % static_cast<std::size_t>(Cols) * static_cast<std::size_t>(Rows) +
           cell / static_cast<std::size_t>(Cols);
  }

 private:
  static constexpr std::array<int, kActions> kOffset = {-Cols, Cols, -1, 1};
  static constexpr std::array<int, kActions> kTurnedOffset = {-1, 1, -Rows, Rows};

  struct Child {
    std::array<std::uint32_t, kViews> number;
    std::uint32_t info;
    std::array<std::uint8_t, 4> sum;  // per view, once judged
  };
  struct Frame {
    Node node;
    std::array<Child, kActions> child;
    unsigned count, todo, action;
  };

  static std::size_t pattern(std::uint32_t info, int view) noexcept { return info >> (kPatternBit + 4 * view) & 15; }

  /// Writes the successor by a legal action to slot `count`; returns whether it is within the taxicab bound.
  template <int Action>
  unsigned try_action(Frame& frame, unsigned count) {
    const Node& node = frame.node;
    const std::size_t cell = node.blank + static_cast<std::uint32_t>(kOffset[Action]);
    const std::uint32_t tile = node.board[0].get(cell);
    const std::uint32_t farther = ground_->farther[tile][cell] >> Action & 1U;
    Child& child = frame.child[count];
    const std::uint32_t info =
        ground_->tile[tile] | farther << kFartherBit | static_cast<std::uint32_t>(Action) << kActionBit;
    child.info = info;
    if constexpr (Views >= 1) child.number[0] = look<0, Action>(node, tile, info);
    if constexpr (Views >= 2) child.number[1] = look<1, Action>(node, tile, info);
    return count + (static_cast<std::int32_t>(farther) <= node.slack ? 1U : 0U);
  }

  /// The rank of the moved tile's pattern in view V. Only moves along a column of the view cross tiles.
  template <int V, int Action>
  std::uint32_t look(const Node& node, std::uint32_t tile, std::uint32_t info) const {
    constexpr bool kAlong = (Action < 2) == (V == 0);
    constexpr bool kTowardsEnd = Action == 0 || Action == 2;  // the tile moves to a later cell
    constexpr int kAcross = V == 0 ? Cols : Rows;
    constexpr std::uint32_t kTile = (1U << Board::kBits) - 1;
    const View& view = ground_->view[V];
    std::int32_t change = view.step[tile][kAlong];
    if constexpr (kAlong) {
      const std::size_t blank = V == 0 ? node.blank : turned(node.blank);
      const std::uint32_t crossed =
          node.board[V].window(blank + 1 - (kTowardsEnd ? static_cast<std::size_t>(kAcross) : 0));
      for (int i = 0; i + 1 < kAcross; ++i) change += view.jump[tile][crossed >> (i * Board::kBits) & kTile];
    }
    const std::size_t p = pattern(info, V);
    const std::uint32_t number = node.number[V][p] + static_cast<std::uint32_t>(kTowardsEnd ? change : -change);
    prefetch(ground_->table[p] + number / kPerByte);
    return number;
  }

  unsigned fits(const Node& node, Child& child) const {
    unsigned fit = 1;
    if constexpr (Views > 0) {
      const int slack = node.slack - static_cast<int>(child.info >> kFartherBit & 1);
      for (int v = 0; v < Views; ++v) {
        const auto at = static_cast<std::size_t>(v);
        const std::size_t p = pattern(child.info, v);
        const int value = packed_value(ground_->table[p], child.number[at]);
        const int sum = static_cast<int>(node.others[at] >> (8 * p) & 255) + value;
        child.sum[at] = static_cast<std::uint8_t>(sum);
        fit &= sum <= slack ? 1U : 0U;
      }
    }
    return fit;
  }

  void follow(const Node& node, const Child& child, unsigned action, Node& next) const {
    const std::size_t blank = node.blank, cell = blank + static_cast<std::size_t>(kOffset[action]);
    const std::uint32_t tile = child.info & 255, farther = child.info >> kFartherBit & 1;
    next.board[0] = node.board[0].moved(cell, blank, tile);
    if constexpr (Views > 0) {
      next.number = node.number;
      for (int v = 0; v < Views; ++v) {
        const auto at = static_cast<std::size_t>(v);
        const std::size_t p = pattern(child.info, v);
        next.number[at][p] = child.number[at];
        next.sum[at] = child.sum[at];
        // Every byte except that of p changes by the change of p's value.
        const auto change = static_cast<std::uint64_t>(next.sum[at] - node.sum[at]);
        next.others[at] = node.others[at] + change * kOnes - (change << (8 * p));
      }
    }
    if constexpr (Views > 1) {
      const std::size_t from = turned(blank);
      next.board[1] = node.board[1].moved(from + static_cast<std::size_t>(kTurnedOffset[action]), from, tile);
    }
    next.state = ground_->rows[node.state][action];
    next.manhattan = node.manhattan + static_cast<std::int32_t>(2 * farther) - 1;
    next.slack = node.slack - static_cast<std::int32_t>(farther);
    next.blank = static_cast<std::uint32_t>(cell);
  }

  static constexpr std::uint64_t kOnes = 0x01010101'01010101ULL;

  const Ground* ground_;
  std::unique_ptr<Frame[]> frames_;
  std::size_t count_ = 0;
  Frame* top_ = nullptr;
};

}  // namespace recommit::sliding
