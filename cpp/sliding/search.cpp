#include "sliding/search.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstring>
#include <utility>

#include "sliding/pattern_build.hpp"

namespace recommit::sliding {
namespace {

using Number = Automaton::Number;

/// The search proper, compiled for each shape and number of views (0: taxicab distance alone).
///
/// Slack is half of what a plan of the wanted length may exceed the taxicab distance by; a move away from a tile's
/// goal costs one. The pattern values are in the same unit, so a board is cut off when their sum exceeds its slack.
/// All successors of a node are looked up before any is judged: their cache misses overlap.
template <int Rows, int Cols, int Views>
class Tree final : public Search {
 public:
  Tree(std::shared_ptr<const Model> model, bool pruning) : model_(std::move(model)), farther_(model_->farther()) {
    if (!pruning) plain_ = std::make_unique<Automaton>(model_->shape(), 2);
    rows_ = (plain_ ? *plain_ : model_->automaton()).rows();
    for (int p = 0; p < model_->patterns(); ++p) table_[static_cast<std::size_t>(p)] = model_->table(p);
  }

  int start(const std::uint8_t* state) override {
    std::memcpy(root_.data(), state, kCells);
    manhattan_ = model_->manhattan(state);
    int bound = 0;
    for (int v = 0; v < Views; ++v) {
      const auto at = static_cast<std::size_t>(v);
      model_->ranks(state, v, root_number_[at].data());
      int sum = 0;
      for (std::size_t p = 0; p < static_cast<std::size_t>(model_->patterns()); ++p) {
        root_value_[at][p] = static_cast<std::uint8_t>(packed_value(table_[p], root_number_[at][p]));
        sum += root_value_[at][p];
      }
      root_sum_[at] = static_cast<std::int8_t>(sum);
      bound = std::max(bound, sum);
    }
    return manhattan_ + 2 * bound;
  }

  Status within(int length, Effort& effort, bool& found) override {
    found = false;
    if (length < manhattan_) return Status::Exact;
    reset((length - manhattan_) / 2);
    std::uint64_t visited = 1, allowance = effort.allowance();
    if (allowance == 0) return effort.check(0);
    for (std::size_t level = 0;;) {
      Frame& frame = frames_[level];
      if (frame.todo == 0) {
        if (level == 0) return effort.check(visited);
        --level;
        undo(frames_[level]);
        continue;
      }
      frame.current = static_cast<std::uint8_t>(std::countr_zero(frame.todo));
      frame.todo &= frame.todo - 1U;
      Frame& next = frames_[++level];
      apply(frame, next);
      if (next.manhattan == 0) {
        keep_plan(level);
        found = true;
        return finish(effort.check(visited));
      }
      if (visited == allowance) {
        const Status status = effort.check(visited);
        if (status != Status::Exact) return status;
        visited = 0;
        allowance = effort.allowance();
      }
      ++visited;
      expand(next);
    }
  }

 private:
  static constexpr std::size_t kCells = static_cast<std::size_t>(Rows) * static_cast<std::size_t>(Cols);
  static constexpr std::size_t kViews = Views == 0 ? 1 : Views;
  using Numbers = std::array<std::array<std::uint32_t, kMaxPatterns>, kViews>;
  using Values = std::array<std::array<std::uint8_t, kMaxPatterns>, kViews>;
  using Sums = std::array<std::int8_t, kViews>;

  /// A successor: after `apply` the number and value fields hold what they replaced.
  struct Child {
    std::array<std::uint32_t, kViews> number;
    std::array<std::uint8_t, kViews> pattern, value;
    Sums sum;
    Number state;
    std::uint8_t action, cell, tile, farther;
  };
  struct Frame {
    std::array<Child, kActions> child;
    unsigned todo;
    int manhattan;
    Number state;
    Sums sum;
    std::int8_t slack;
    std::uint8_t blank, current;
  };

  /// The limit was hit on the very node that is the goal: the plan stands all the same.
  static Status finish(Status) noexcept { return Status::Exact; }

  void reset(int slack) {
    frames_.resize(std::max(frames_.size(), static_cast<std::size_t>(manhattan_ + 2 * slack + 2)));
    number_ = root_number_;
    value_ = root_value_;
    Frame& root = frames_[0];
    for (std::size_t cell = 0; cell < kCells; ++cell) {
      board_[0][cell] = root_[cell];
      board_[1][turned(cell)] = root_[cell];
      if (root_[cell] == 0) root.blank = static_cast<std::uint8_t>(cell);
    }
    root.manhattan = manhattan_;
    root.state = Automaton::root(root.blank);
    root.sum = root_sum_;
    root.slack = static_cast<std::int8_t>(slack);
    expand(root);
  }

  static constexpr std::size_t turned(std::size_t cell) noexcept {
    return cell % static_cast<std::size_t>(Cols) * static_cast<std::size_t>(Rows) + cell / static_cast<std::size_t>(Cols);
  }

  void expand(Frame& frame) {
    unsigned count = 0;
    propose<0>(frame, count);
    propose<1>(frame, count);
    propose<2>(frame, count);
    propose<3>(frame, count);
    if constexpr (Views == 0) {
      frame.todo = (1U << count) - 1;
      return;
    }
    unsigned todo = 0;
    for (unsigned i = 0; i < count; ++i) {
      Child& child = frame.child[i];
      bool fits = true;
      for (std::size_t v = 0; v < kViews; ++v) {
        const std::size_t p = child.pattern[v];
        const int value = packed_value(table_[p], child.number[v]);
        const int sum = frame.sum[v] - value_[v][p] + value;
        child.value[v] = static_cast<std::uint8_t>(value);
        child.sum[v] = static_cast<std::int8_t>(sum);
        fits &= sum <= frame.slack - child.farther;
      }
      todo |= static_cast<unsigned>(fits) << i;
    }
    frame.todo = todo;
  }

  /// Adds the successor by one action unless it is illegal, refused or too far off by taxicab distance.
  template <int Action>
  void propose(Frame& frame, unsigned& count) {
    constexpr int kOffset = Action == 0 ? -Cols : Action == 1 ? Cols : Action == 2 ? -1 : 1;
    const Number state = rows_[frame.state][Action];
    if (state == 0) return;
    const auto cell = static_cast<std::size_t>(frame.blank + kOffset);
    const std::size_t tile = board_[0][cell];
    const int farther = farther_[tile][cell] >> Action & 1;
    if (farther > frame.slack) return;
    Child& child = frame.child[count++];
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
    const View& view = model_->view(V);
    std::int32_t change = view.step[tile][kAlongColumn];
    if constexpr (kAlongColumn) {
      const std::uint8_t* crossed = board_[V].data() + (kTowardsEnd ? cell : cell - kAcross) + 1;
      for (std::size_t i = 0; i + 1 < kAcross; ++i) change += view.jump[tile][crossed[i]];
    }
    const std::size_t p = view.pattern[tile];
    child.pattern[V] = static_cast<std::uint8_t>(p);
    child.number[V] = number_[V][p] + static_cast<std::uint32_t>(kTowardsEnd ? change : -change);
  }

  void apply(Frame& frame, Frame& next) {
    Child& child = frame.child[frame.current];
    exchange(child);
    put(frame.blank, child.tile);
    put(child.cell, 0);
    next.blank = child.cell;
    next.state = child.state;
    next.sum = child.sum;
    next.slack = static_cast<std::int8_t>(frame.slack - child.farther);
    next.manhattan = frame.manhattan + 2 * child.farther - 1;
  }

  void undo(Frame& frame) {
    Child& child = frame.child[frame.current];
    exchange(child);
    put(child.cell, child.tile);
    put(frame.blank, 0);
  }

  void exchange(Child& child) noexcept {
    if constexpr (Views > 0) {
      for (std::size_t v = 0; v < kViews; ++v) {
        std::swap(child.number[v], number_[v][child.pattern[v]]);
        std::swap(child.value[v], value_[v][child.pattern[v]]);
      }
    }
  }

  void put(std::size_t cell, std::uint8_t tile) noexcept {
    board_[0][cell] = tile;
    if constexpr (Views > 1) board_[1][turned(cell)] = tile;
  }

  void keep_plan(std::size_t length) {
    plan_.resize(length);
    for (std::size_t i = 0; i < length; ++i) plan_[i] = frames_[i].child[frames_[i].current].action;
  }

  std::shared_ptr<const Model> model_;
  std::unique_ptr<Automaton> plain_;
  const Automaton::Row* rows_ = nullptr;
  const std::array<std::array<std::uint8_t, kMaxCells>, kMaxCells>& farther_;
  std::array<const std::uint8_t*, kMaxPatterns> table_{};

  std::array<std::uint8_t, kCells> root_{};
  int manhattan_ = 0;
  Numbers root_number_{}, number_{};
  Values root_value_{}, value_{};
  Sums root_sum_{};
  std::array<std::array<std::uint8_t, kCells>, 2> board_{};
  std::vector<Frame> frames_;
};

template <int Rows, int Cols>
std::unique_ptr<Search> make_tree(std::shared_ptr<const Model> model, const SearchOptions& options) {
  if (model->patterns() == 0) return std::make_unique<Tree<Rows, Cols, 0>>(std::move(model), options.pruning);
  if constexpr (Rows == Cols) {
    if (options.mirror) return std::make_unique<Tree<Rows, Cols, 2>>(std::move(model), options.pruning);
  }
  return std::make_unique<Tree<Rows, Cols, 1>>(std::move(model), options.pruning);
}

template <int Rows>
std::unique_ptr<Search> make_rows(std::shared_ptr<const Model> model, const SearchOptions& options) {
  switch (model->shape().cols) {
    case 2: return make_tree<Rows, 2>(std::move(model), options);
    case 3: return make_tree<Rows, 3>(std::move(model), options);
    case 4: return make_tree<Rows, 4>(std::move(model), options);
    default: return make_tree<Rows, 5>(std::move(model), options);
  }
}

}  // namespace

Effort::Effort(const Limits& limits, Watch* watch)
    : limit_(limits.nodes), timed_(limits.seconds < 1e9), watch_(watch) {
  if (timed_) {
    deadline_ = Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(limits.seconds));
  }
}

std::uint64_t Effort::allowance() const noexcept { return std::min(limit_ - nodes_, kChunk); }

Status Effort::check(std::uint64_t visited) {
  nodes_ += visited;
  if (watch_ != nullptr) watch_->poll();
  if (nodes_ >= limit_) return Status::NodeLimit;
  return timed_ && Clock::now() >= deadline_ ? Status::TimeLimit : Status::Exact;
}

std::unique_ptr<Search> Search::make(std::shared_ptr<const Model> model, const SearchOptions& options) {
  switch (model->shape().rows) {
    case 2: return make_rows<2>(std::move(model), options);
    case 3: return make_rows<3>(std::move(model), options);
    case 4: return make_rows<4>(std::move(model), options);
    default: return make_rows<5>(std::move(model), options);
  }
}

}  // namespace recommit::sliding
