#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/prefetch.hpp"
#include "sliding/automaton.hpp"
#include "sliding/model.hpp"
#include "sliding/pattern_build.hpp"

namespace recommit::sliding {

/// A depth-first walk over one tree of boards, in action order, compiled for each shape and number of views (0:
/// taxicab distance alone). A node takes two steps, so that a search may do something else in between:
///   propose()  finds the successors and asks the memory for their pattern values;
///   judge()    reads the values and keeps the successors that fit.
///
/// Slack is half of what a plan of the wanted length may exceed the taxicab distance by; a move away from a tile's
/// goal costs one. The pattern values are in the same unit, so a board is cut off when their sum exceeds its slack.
template <int Rows, int Cols, int Views>
class Walker {
 public:
  using Number = Automaton::Number;
  static constexpr std::size_t kCells = static_cast<std::size_t>(Rows) * static_cast<std::size_t>(Cols);
  static constexpr std::size_t kViews = Views == 0 ? 1 : Views;
  using Sums = std::array<std::int8_t, kViews>;

  /// A board and what is known of it; all that a walk has to take over from another one.
  struct Position {
    std::array<std::array<std::uint8_t, kCells>, kViews> board{};  // as each view sees it
    std::array<std::array<std::uint32_t, kMaxPatterns>, kViews> number{};
    std::array<std::array<std::uint8_t, kMaxPatterns>, kViews> value{};
  };
  struct Head {
    int manhattan = 0;
    Number state = 0;
    Sums sum{};
    std::int8_t slack = 0;
    std::uint8_t blank = 0;
  };

  /// What does not change: shared by the walks of a search.
  struct Ground {
    const Model* model = nullptr;
    const Automaton::Row* rows = nullptr;
    std::array<const std::uint8_t*, kMaxPatterns> table{};
  };

  explicit Walker(const Ground& ground) : ground_(&ground) {}

  const Position& position() const noexcept { return position_; }
  const Head& head() const noexcept { return frames_[level_].head; }
  std::size_t level() const noexcept { return level_; }
  bool at_goal() const noexcept { return head().manhattan == 0; }
  void append_plan(std::vector<std::uint8_t>& plan) const {
    for (std::size_t i = 0; i < level_; ++i) plan.push_back(frames_[i].child[frames_[i].current].action);
  }

  /// Starts at a board; plans of up to taxicab distance + 2 * slack actions fit.
  void begin(const Position& position, const Head& head) {
    frames_.resize(std::max(frames_.size(), static_cast<std::size_t>(head.manhattan + 2 * head.slack + 2)));
    position_ = position;
    level_ = 0;
    frames_[0].head = head;
  }

  void propose() {
    Frame& frame = frames_[level_];
    frame.count = 0;
    try_action<0>(frame);
    try_action<1>(frame);
    try_action<2>(frame);
    try_action<3>(frame);
  }

  void judge() {
    Frame& frame = frames_[level_];
    unsigned todo = 0;
    for (unsigned i = 0; i < frame.count; ++i) todo |= static_cast<unsigned>(fits(frame, frame.child[i])) << i;
    frame.todo = todo;
  }

  /// To the next node: a successor of this one, or of the nearest one before with any left. False at the end.
  bool advance() {
    while (frames_[level_].todo == 0) {
      if (level_ == 0) return false;
      undo(frames_[--level_]);
    }
    Frame& frame = frames_[level_];
    frame.current = static_cast<std::uint8_t>(std::countr_zero(frame.todo));
    frame.todo &= frame.todo - 1U;
    apply(frame, frames_[++level_].head);
    return true;
  }

  /// Leaves the node's subtree out.
  void skip() noexcept { frames_[level_].todo = 0; }

  static constexpr std::size_t turned(std::size_t cell) noexcept {
    return cell % static_cast<std::size_t>(Cols) * static_cast<std::size_t>(Rows) + cell / static_cast<std::size_t>(Cols);
  }

 private:
  /// A successor. While the walk is below it, number and value hold what it replaced.
  struct Child {
    std::array<std::uint32_t, kViews> number;
    std::array<std::uint8_t, kViews> pattern, value;
    Sums sum;
    Number state;
    std::uint8_t action, cell, tile, farther;
  };
  struct Frame {
    std::array<Child, kActions> child;
    Head head;
    unsigned todo;
    std::uint8_t count, current;
  };

  /// Adds the successor by one action unless it is illegal, refused or too far off by taxicab distance.
  template <int Action>
  void try_action(Frame& frame) {
    constexpr int kOffset = Action == 0 ? -Cols : Action == 1 ? Cols : Action == 2 ? -1 : 1;
    const Head& head = frame.head;
    const Number state = ground_->rows[head.state][Action];
    if (state == 0) return;
    const auto cell = static_cast<std::size_t>(head.blank + kOffset);
    const std::size_t tile = position_.board[0][cell];
    const int farther = ground_->model->farther()[tile][cell] >> Action & 1;
    if (farther > head.slack) return;
    Child& child = frame.child[frame.count++];
    child.state = state;
    child.action = Action;
    child.cell = static_cast<std::uint8_t>(cell);
    child.tile = static_cast<std::uint8_t>(tile);
    child.farther = static_cast<std::uint8_t>(farther);
    if constexpr (Views >= 1) look<0, Action>(child, cell, tile);
    if constexpr (Views >= 2) look<1, Action>(child, turned(cell), tile);
  }

  /// The number of the moved tile's pattern in view V, where the blank's target is `cell`.
  template <int V, int Action>
  void look(Child& child, std::size_t cell, std::size_t tile) const {
    constexpr bool kAlongColumn = (Action < 2) == (V == 0);
    constexpr bool kTowardsEnd = Action == 0 || Action == 2;  // the tile moves to a later cell
    constexpr std::size_t kAcross = V == 0 ? Cols : Rows;
    const View& view = ground_->model->view(V);
    std::int32_t change = view.step[tile][kAlongColumn];
    if constexpr (kAlongColumn) {
      const std::uint8_t* crossed = position_.board[V].data() + (kTowardsEnd ? cell : cell - kAcross) + 1;
      for (std::size_t i = 0; i + 1 < kAcross; ++i) change += view.jump[tile][crossed[i]];
    }
    const std::size_t p = view.pattern[tile];
    child.pattern[V] = static_cast<std::uint8_t>(p);
    child.number[V] = position_.number[V][p] + static_cast<std::uint32_t>(kTowardsEnd ? change : -change);
    prefetch(ground_->table[p] + child.number[V] / kPerByte);
  }

  bool fits(const Frame& frame, Child& child) const {
    bool fit = true;
    if constexpr (Views > 0) {
      for (std::size_t v = 0; v < kViews; ++v) {
        const std::size_t p = child.pattern[v];
        const int value = packed_value(ground_->table[p], child.number[v]);
        const int sum = frame.head.sum[v] - position_.value[v][p] + value;
        child.value[v] = static_cast<std::uint8_t>(value);
        child.sum[v] = static_cast<std::int8_t>(sum);
        fit &= sum <= frame.head.slack - child.farther;
      }
    }
    return fit;
  }

  void apply(Frame& frame, Head& next) {
    Child& child = frame.child[frame.current];
    exchange(child);
    put(frame.head.blank, child.tile);
    put(child.cell, 0);
    next.blank = child.cell;
    next.state = child.state;
    next.sum = child.sum;
    next.slack = static_cast<std::int8_t>(frame.head.slack - child.farther);
    next.manhattan = frame.head.manhattan + 2 * child.farther - 1;
  }

  void undo(Frame& frame) {
    Child& child = frame.child[frame.current];
    exchange(child);
    put(child.cell, child.tile);
    put(frame.head.blank, 0);
  }

  void exchange(Child& child) noexcept {
    if constexpr (Views > 0) {
      for (std::size_t v = 0; v < kViews; ++v) {
        std::swap(child.number[v], position_.number[v][child.pattern[v]]);
        std::swap(child.value[v], position_.value[v][child.pattern[v]]);
      }
    }
  }

  void put(std::size_t cell, std::uint8_t tile) noexcept {
    position_.board[0][cell] = tile;
    if constexpr (Views > 1) position_.board[1][turned(cell)] = tile;
  }

  const Ground* ground_;
  Position position_{};
  std::vector<Frame> frames_;
  std::size_t level_ = 0;
};

}  // namespace recommit::sliding
