// Boards of a given length, from lists of layers or by walks cut to the length.
#include "sliding/generate.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "core/errors.hpp"
#include "core/rng.hpp"
#include "sliding/simulate.hpp"

namespace recommit::sliding {
namespace {

constexpr int kLongest = 255;              // above the distance of any board of up to 25 cells
constexpr int kDirect = 32;                // attempts with walks of exactly the length
constexpr std::uint64_t kNodes = 1 << 22;  // per attempt; a board that takes more is dropped

std::string window_text(int lo, int hi) { return std::to_string(lo) + ".." + std::to_string(hi); }

std::string shape_text(Shape shape) { return std::to_string(shape.rows) + "x" + std::to_string(shape.cols); }

}  // namespace

/// One thread's search for boards of a length.
class Generator::Walker {
 public:
  Walker(const Generator& owner, Watch* watch)
      : shape_(owner.shape_), moves_(shape_), search_(Search::make(owner.solver_.model())), watch_(watch) {}

  bool find(std::uint8_t* state, int length, Rng& rng) {
    limits_.nodes = kNodes;
    for (int attempt = 0; attempt < kAttempts; ++attempt) {
      // After the direct ones, walks become half as long again every eight attempts, up to some 16 times the length.
      const int stretch = std::min((attempt - kDirect) / 8, 7);
      int steps = length;
      for (int k = 0; attempt >= kDirect && k <= stretch; ++k) steps += std::max(steps / 2, 2);
      walk(state, steps, rng);
      if (is_goal(state, shape_)) continue;
      if (steps == length ? is_shortest(state, length) : cut(state, length)) return true;
    }
    return false;
  }

 private:
  void walk(std::uint8_t* state, int steps, Rng& rng) const {
    const auto cells = static_cast<std::size_t>(shape_.cells());
    for (std::size_t i = 0; i < cells; ++i) state[i] = static_cast<std::uint8_t>((i + 1) % cells);
    std::size_t blank = cells - 1, previous = cells;
    for (int step = 0; step < steps; ++step) {
      std::size_t options[kActions];
      std::uint32_t count = 0;
      for (const std::size_t target : moves_.to[blank]) {
        if (target != blank && target != previous) options[count++] = target;
      }
      const std::size_t target = options[count == 1 ? 0 : rng.below(count)];
      state[blank] = state[target];
      state[target] = 0;
      previous = blank;
      blank = target;
    }
  }

  /// True if no path shorter than `length` leads to this board, which a walk of `length` steps reached.
  bool is_shortest(const std::uint8_t* state, int length) {
    if (search_->start(state) > length - 2) return true;
    Effort effort(limits_, watch_);
    bool exists = false;
    return search_->within(length - 2, effort, exists) == Status::Exact && !exists;
  }

  /// Follows an optimal plan until `length` actions are left; false if the board is nearer than that.
  bool cut(std::uint8_t* state, int length) {
    Effort effort(limits_, watch_);
    int distance = search_->start(state);
    for (bool exists = false;; distance += 2) {
      if (search_->within(distance, effort, exists) != Status::Exact) return false;
      if (exists) break;
    }
    auto blank = static_cast<std::size_t>(std::find(state, state + shape_.cells(), 0) - state);
    for (int k = 0; k < distance - length; ++k) {
      const std::size_t target = moves_.to[blank][search_->plan()[static_cast<std::size_t>(k)]];
      std::swap(state[blank], state[target]);
      blank = target;
    }
    return distance >= length;
  }

  Shape shape_;
  Moves moves_;
  std::unique_ptr<Search> search_;
  Watch* watch_;
  Limits limits_;
};

void Generator::check(Shape shape, int lo, int hi) {
  check_shape(shape);
  if (lo < 1 || hi < lo || hi > kLongest) {
    throw ValueError("length: expected 1 <= lowest <= highest <= " + std::to_string(kLongest) + ", got " +
                     window_text(lo, hi));
  }
}

Generator::Generator(Shape shape, int lo, int hi, int threads, Watch* watch)
    : shape_((check(shape, lo, hi), shape)), lo_(lo), hi_(hi), solver_(shape, {}, threads, watch) {
  if (!solver_.table()) return;
  hi_ = std::min(hi, solver_.table()->farthest());
  if (lo > hi_) {
    throw ValueError("length: expected 1.." + std::to_string(hi_) + " for " + shape_text(shape) + " boards, got " +
                     window_text(lo, hi));
  }
}

void Generator::generate(std::uint64_t seed, std::uint64_t start, std::uint8_t* states, Distance* lengths,
                         std::size_t begin, std::size_t end, Watch* watch) const {
  std::unique_ptr<Walker> walker;
  if (!solver_.table()) walker = std::make_unique<Walker>(*this, watch);
  for (std::size_t i = begin; i < end; ++i) {
    Rng rng(seed, Purpose::SlidingGenerate, start + i);
    std::uint8_t* state = states + i * static_cast<std::size_t>(shape_.cells());
    const int length = lo_ + static_cast<int>(rng.below(static_cast<std::uint32_t>(hi_ - lo_ + 1)));
    lengths[i] = length;
    if (solver_.table()) {
      solver_.table()->layer_state(length, rng.below(solver_.table()->layer_size(length)), state);
    } else if (!walker->find(state, length, rng)) {
      throw ValueError("length: expected one that " + shape_text(shape_) + " boards have, found none of length " +
                       std::to_string(length) + " in " + std::to_string(kAttempts) + " attempts (instance " +
                       std::to_string(start + i) + ", window " + window_text(lo_, hi_) + ")");
    }
  }
}

}  // namespace recommit::sliding
