// The sliding search: iterative deepening over a tree of moves, compiled for each shape.
#include "sliding/search/search.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

#include "sliding/patterns/pattern_build.hpp"
#include "sliding/search/descent.hpp"

namespace recommit::sliding {

/// One descent for small trees; for large ones several interleaved descents on separate subtrees, to hide the latency
/// of cache misses. Subtrees are assigned in action order and the first one with a plan wins, so the answer is that of
/// a single descent.
template <int Rows, int Cols, int Views>
class Tree final : public Search {
 public:
  Tree(std::shared_ptr<const Model> model, bool pruning) : model_(std::move(model)), scout_(ground_) {
    if (!pruning) plain_ = std::make_unique<Automaton>(model_->shape(), 2);
    ground_.set(*model_, plain_ ? *plain_ : model_->automaton(), Views);
  }

  int start(const std::uint8_t* state) override {
    root_ = {};
    root_.manhattan = model_->manhattan(state);
    for (std::size_t cell = 0; cell < Descender::kCells; ++cell) {
      root_.board[0].put(cell, state[cell]);
      if constexpr (Views > 1) root_.board[1].put(Descender::turned(cell), state[cell]);
      if (state[cell] == 0) root_.blank = static_cast<std::uint32_t>(cell);
    }
    root_.state = Automaton::root(static_cast<int>(root_.blank));
    int bound = 0;
    for (int v = 0; v < Views; ++v) bound = std::max(bound, look_up(state, v));
    large_ = false;
    return root_.manhattan + 2 * bound;
  }

  Status within(int length, Effort& effort, bool& exists) override {
    exists = false;
    if (length < root_.manhattan) return Status::Exact;
    root_.slack = (length - root_.manhattan) / 2;
    Status status = Status::Exact;
    if (!large_ && alone(effort, status, exists)) return status;
    large_ = true;  // also for the next iteration, with more slack
    return crowd(effort, exists);
  }

 private:
  using Descender = Descent<Rows, Cols, Views>;
  static constexpr std::size_t kLanes = 4;
  static constexpr std::uint64_t kSmall = 400;  // nodes; restarting interleaved is then cheap
  static constexpr std::size_t kSplit = 10;     // depth at which the scout assigns subtrees

  /// A descent through a subtree. `order` is the position of the subtree in action order.
  struct Lane {
    explicit Lane(const Ground& ground) : descent(ground) {}
    Descender descent;
    std::uint64_t order = 0;
    bool busy = false;
    std::array<std::uint8_t, kSplit> prefix{};
  };

  int look_up(const std::uint8_t* state, int view) {
    const auto v = static_cast<std::size_t>(view);
    model_->ranks(state, view, root_.number[v].data());
    int sum = 0;
    for (int pass = 0; pass < 2; ++pass) {  // first the sum, then the sums without each
      for (std::size_t p = 0; p < static_cast<std::size_t>(model_->patterns()); ++p) {
        const int value = packed_value(ground_.table[p], root_.number[v][p]);
        if (pass == 0) sum += value;
        if (pass == 1) root_.others[v] |= static_cast<std::uint64_t>(sum - value) << (8 * p);
      }
    }
    root_.sum[v] = sum;
    return sum;
  }

  /// False if the tree turns out to be large; the result is then undecided.
  bool alone(Effort& effort, Status& status, bool& exists) {
    scout_.begin(root_);
    const std::uint64_t most = std::min(effort.allowance(), kSmall);
    for (std::uint64_t visited = 0; visited < most; ++visited) {
      scout_.propose();
      scout_.judge();
      if (!scout_.advance()) {
        status = effort.check(visited + 1);
        return true;
      }
      if (!scout_.at_goal()) continue;
      effort.check(visited + 1);  // a limit hit at the goal does not matter
      plan_.clear();
      scout_.append_plan(plan_);
      exists = true;
      return true;
    }
    status = effort.check(most);
    return status != Status::Exact;
  }

  Status crowd(Effort& effort, bool& exists) {
    scout_.begin(root_);
    scout_.propose();
    scout_.judge();
    scouting_ = true;
    handed_ = 0;
    best_ = kNone;
    for (Lane& lane : lanes_) lane.busy = false;
    visited_ = 0;
    allowance_ = effort.allowance();
    for (bool busy = true; busy;) {
      busy = false;
      for (Lane& lane : lanes_) {
        if (!lane.busy && !hand_out(lane, effort)) return limit_;
        if (!lane.busy) continue;
        busy = true;
        if (!afford(effort)) return limit_;
        step(lane);
      }
    }
    exists = best_ != kNone;
    const Status status = effort.check(visited_);
    return exists ? Status::Exact : status;
  }

  /// Accounts for one node; false once a limit is hit.
  bool afford(Effort& effort) {
    if (visited_ == allowance_) {
      limit_ = effort.check(visited_);
      visited_ = 0;
      allowance_ = effort.allowance();
      if (limit_ != Status::Exact) return false;
    }
    ++visited_;
    return true;
  }

  /// Judges the lane's last proposals, advances to the next node and proposes there.
  void step(Lane& lane) {
    lane.descent.judge();
    if (lane.order > best_ || !lane.descent.advance()) {
      lane.busy = false;
    } else if (lane.descent.at_goal()) {
      lane.busy = false;
      best_ = lane.order;
      scouting_ = false;  // all later subtrees come after it in action order
      plan_.assign(lane.prefix.begin(), lane.prefix.end());
      lane.descent.append_plan(plan_);
    } else {
      lane.descent.propose();
    }
  }

  /// Assigns the scout's next subtree, if any, to the lane. False once a limit is hit.
  bool hand_out(Lane& lane, Effort& effort) {
    while (scouting_) {
      scouting_ = scout_.advance();
      if (!scouting_) break;
      if (scout_.at_goal()) {
        best_ = ++handed_;
        scouting_ = false;
        plan_.clear();
        scout_.append_plan(plan_);
        break;
      }
      if (scout_.level() == kSplit) {
        lane.descent.begin(scout_.node());
        lane.order = ++handed_;
        lane.busy = true;
        prefix_.clear();
        scout_.append_plan(prefix_);
        std::copy(prefix_.begin(), prefix_.end(), lane.prefix.begin());
        scout_.skip();
        lane.descent.propose();
        break;
      }
      if (!afford(effort)) return false;
      scout_.propose();
      scout_.judge();
    }
    return true;
  }

  static constexpr std::uint64_t kNone = std::numeric_limits<std::uint64_t>::max();

  std::shared_ptr<const Model> model_;
  std::unique_ptr<Automaton> plain_;
  Ground ground_;
  Descender::Node root_{};
  bool large_ = false;

  Descender scout_;
  std::array<Lane, kLanes> lanes_ = {Lane{ground_}, Lane{ground_}, Lane{ground_}, Lane{ground_}};
  std::vector<std::uint8_t> prefix_;
  bool scouting_ = false;
  std::uint64_t handed_ = 0, best_ = kNone;
  std::uint64_t visited_ = 0, allowance_ = 0;
  Status limit_ = Status::Exact;
};

template <int Rows, int Cols>
std::unique_ptr<Search> make_tree(std::shared_ptr<const Model> model, bool pruning) {
  if (model->patterns() == 0) return std::make_unique<Tree<Rows, Cols, 0>>(std::move(model), pruning);
  return std::make_unique<Tree<Rows, Cols, Rows == Cols ? 2 : 1>>(std::move(model), pruning);
}

Effort::Effort(const Limits& limits, Watch* watch) : limit_(limits.nodes), timed_(limits.seconds < 1e9), watch_(watch) {
  if (timed_) {
    deadline_ =
        Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(limits.seconds));
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
  switch (10 * model->shape().rows + model->shape().cols) {
    case 33: return make_tree<3, 3>(std::move(model), options.pruning);
    case 25: return make_tree<2, 5>(std::move(model), options.pruning);
    case 52: return make_tree<5, 2>(std::move(model), options.pruning);
    case 34: return make_tree<3, 4>(std::move(model), options.pruning);
    case 43: return make_tree<4, 3>(std::move(model), options.pruning);
    case 35: return make_tree<3, 5>(std::move(model), options.pruning);
    case 53: return make_tree<5, 3>(std::move(model), options.pruning);
    case 44: return make_tree<4, 4>(std::move(model), options.pruning);
    case 45: return make_tree<4, 5>(std::move(model), options.pruning);
    case 54: return make_tree<5, 4>(std::move(model), options.pruning);
    case 55: return make_tree<5, 5>(std::move(model), options.pruning);
    default: return nullptr;  // smaller boards use a full table, which takes less memory
  }
}

}  // namespace recommit::sliding
