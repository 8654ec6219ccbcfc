// Solving of boards by a full table or by a search per thread.
#include "sliding/solver.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <string>
#include <utility>

#include "core/actions.hpp"
#include "core/rng.hpp"
#include "sliding/simulate.hpp"

namespace recommit::sliding {
namespace {

/// Memory of a search besides the tables: its automaton and frames.
constexpr std::size_t kSearchBytes = std::size_t{1} << 20;

using Board = std::array<std::uint8_t, kMaxCells>;

}  // namespace

/// One thread's worker: its search and its current board.
class Solver::Worker {
 public:
  Worker(const Solver& solver, Watch* watch) : solver_(solver), moves_(solver.shape_), watch_(watch) {
    if (solver.model_) search_ = Search::make(solver.model_, solver.options_.search);
  }

  struct Answer {
    Distance length = kUnknown;
    Status status = Status::Exact;
    std::uint64_t nodes = 0;
    Distance bound = 0;
  };

  /// Checks state `index` of the batch and makes it the current board.
  void take(const std::uint8_t* state, std::size_t index) {
    std::memcpy(board_.data(), state, static_cast<std::size_t>(solver_.shape_.cells()));
    blank_ = find_blank(board_.data(), solver_.shape_, index);
    effort_ = Effort(solver_.options_.limits, watch_);
  }

  /// The exact distance, and by search also the first optimal plan (in `plan`).
  Answer distance() {
    plan_.clear();
    if (solver_.table_) {
      const Distance d = solver_.table_->distance(board_.data());
      return {d, d < 0 ? Status::Unsolvable : Status::Exact, 0, d};
    }
    if (!is_solvable(board_.data(), solver_.shape_)) return {kUnsolvable, Status::Unsolvable, 0, kUnsolvable};
    if (is_goal(board_.data(), solver_.shape_)) return {0, Status::Exact, 0, 0};
    if (!search_ || solver_.options_.limits.bytes < kSearchBytes) return {kUnknown, Status::ByteLimit, 0, 1};
    int bound = search_->start(board_.data());
    for (;; bound += 2) {
      bool exists = false;
      const Status status = search_->within(bound, effort_, exists);
      if (status != Status::Exact) return {kUnknown, status, effort_.nodes(), bound};
      if (exists) break;
    }
    plan_ = search_->plan();
    return {bound, Status::Exact, effort_.nodes(), bound};
  }

  /// Decides whether the board, one legal move away from a state at distance d, has distance d - 1 (otherwise d + 1).
  Status is_nearer(Distance d, bool& yes) {
    yes = false;
    if (is_goal(board_.data(), solver_.shape_)) {
      yes = true;
      return Status::Exact;
    }
    if (d == 0 || search_->start(board_.data()) > d - 1) return Status::Exact;
    return search_->within(d - 1, effort_, yes);
  }

  /// Moves the blank; false, without change, if blocked by the border.
  bool move(int action) noexcept {
    const int target = moves_.to[static_cast<std::size_t>(blank_)][static_cast<std::size_t>(action)];
    if (target == blank_) return false;
    std::swap(board_[static_cast<std::size_t>(blank_)], board_[static_cast<std::size_t>(target)]);
    blank_ = target;
    return true;
  }

  /// Decides whether `action` leads from distance d to d - 1. The board is left unchanged.
  Status lowers(int action, Distance d, bool& yes) {
    yes = false;
    if (!move(action)) return Status::Exact;
    const Status status = is_nearer(d, yes);
    move(action ^ 1);
    return status;
  }

  /// The first optimal plan by table: the first optimal action at every step.
  void descend(Distance d, std::vector<std::uint8_t>& plan) {
    for (; d > 0; --d) {
      const int action = std::countr_zero(solver_.table_->optimal_actions(board_.data()));
      plan.push_back(static_cast<std::uint8_t>(action));
      move(action);
    }
  }

  /// A plan by uniform choice among the optimal actions, as the first optimal one in a random order.
  Status wander(Distance d, Rng& rng, std::vector<std::uint8_t>& plan) {
    for (; d > 0; --d) {
      std::array<int, kActions> order = {0, 1, 2, 3};
      rng.shuffle(order);
      const unsigned optimal = solver_.table_ ? solver_.table_->optimal_actions(board_.data()) : 0;
      int chosen = -1;
      for (std::size_t i = 0; chosen < 0 && i < order.size(); ++i) {
        if (!plan.empty() && order[i] == (plan.back() ^ 1)) continue;  // undoing a move is never optimal
        bool yes = (optimal >> order[i] & 1) != 0;
        const Status status = solver_.table_ ? Status::Exact : lowers(order[i], d, yes);
        if (status != Status::Exact) return status;
        if (yes) chosen = order[i];
      }
      plan.push_back(static_cast<std::uint8_t>(chosen));
      move(chosen);
    }
    return Status::Exact;
  }

  std::uint64_t nodes() const noexcept { return effort_.nodes(); }
  const std::vector<std::uint8_t>& plan() const noexcept { return plan_; }

 private:
  const Solver& solver_;
  Moves moves_;
  Watch* watch_;
  std::unique_ptr<Search> search_;
  Effort effort_{Limits{}};
  Board board_{};
  int blank_ = 0;
  std::vector<std::uint8_t> plan_;
};

namespace {

template <class Answer>
void put(const Answers& out, std::size_t i, const Answer& answer) {
  if (out.length != nullptr) out.length[i] = answer.length;
  if (out.status != nullptr) out.status[i] = answer.status;
  if (out.nodes != nullptr) out.nodes[i] = answer.nodes;
  if (out.bound != nullptr) out.bound[i] = answer.bound;
}

}  // namespace

Solver::Solver(Shape shape, const SolverOptions& options, int threads, Watch* watch)
    : shape_(shape), options_(options) {
  check_shape(shape);
  const std::size_t most_bytes = options.limits.bytes;
  if (options.full_tables && FullTable::covers(shape) && FullTable::bytes_for(shape) <= most_bytes) {
    table_ = FullTable::shared(shape, watch);
    return;
  }
  const bool fits = table_bytes(shape, options.database) + kSearchBytes <= most_bytes;
  model_ = Model::shared(shape, fits ? options.database : Database::Manhattan, threads, watch);
}

std::size_t Solver::bytes() const noexcept { return table_ ? table_->bytes() : model_->bytes(); }

void Solver::distance(const std::uint8_t* states, Answers out, std::size_t begin, std::size_t end, Watch* watch) const {
  const auto cells = static_cast<std::size_t>(shape_.cells());
  if (table_ && out.length != nullptr) {
    table_->distances(states, out.length, begin, end);
    for (std::size_t i = begin; i < end; ++i) {
      const Distance d = out.length[i];
      if (out.status != nullptr) out.status[i] = d < 0 ? Status::Unsolvable : Status::Exact;
      if (out.nodes != nullptr) out.nodes[i] = 0;
      if (out.bound != nullptr) out.bound[i] = d;
    }
    return;
  }
  Worker worker(*this, watch);
  for (std::size_t i = begin; i < end; ++i) {
    worker.take(states + i * cells, i);
    put(out, i, worker.distance());
  }
}

void Solver::solve(const std::uint8_t* states, Ties ties, std::uint64_t seed, std::vector<std::uint8_t>* plans,
                   Answers out, std::size_t begin, std::size_t end, Watch* watch) const {
  const auto cells = static_cast<std::size_t>(shape_.cells());
  Worker worker(*this, watch);
  for (std::size_t i = begin; i < end; ++i) {
    worker.take(states + i * cells, i);
    Worker::Answer answer = worker.distance();
    std::vector<std::uint8_t>& plan = plans[i];
    plan.clear();
    if (answer.length > 0 && ties == Ties::Random) {
      Rng rng(seed, Purpose::Ties, i);
      const Status status = worker.wander(answer.length, rng, plan);
      if (status != Status::Exact) {
        plan.clear();
        answer = {kUnknown, status, 0, answer.length};
      }
      answer.nodes = worker.nodes();
    } else if (answer.length > 0 && table_) {
      worker.descend(answer.length, plan);
    } else if (answer.length > 0) {
      plan = worker.plan();
    }
    put(out, i, answer);
  }
}

void Solver::optimal_actions(const std::uint8_t* states, std::uint8_t* masks, std::size_t begin, std::size_t end,
                             Watch* watch) const {
  if (table_) return table_->optimal_actions(states, masks, begin, end);
  const auto cells = static_cast<std::size_t>(shape_.cells());
  Worker worker(*this, watch);
  for (std::size_t i = begin; i < end; ++i) {
    worker.take(states + i * cells, i);
    const Distance length = worker.distance().length;
    std::uint8_t* mask = masks + i * kActions;
    std::memset(mask, 0, kActions);
    for (int action = 0; action < kActions && length > 0; ++action) {
      bool yes = !worker.plan().empty() && worker.plan()[0] == action;  // known already
      const Status status = yes ? Status::Exact : worker.lowers(action, length, yes);
      mask[action] = yes;
      if (status != Status::Exact) {
        std::memset(mask, 0, kActions);
        break;
      }
    }
  }
}

}  // namespace recommit::sliding
