// Generation of caves by rejection until one has a start of the requested length.
#include "ice/generate.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "core/errors.hpp"
#include "core/rng.hpp"
#include "ice/distances.hpp"
#include "ice/simulate.hpp"

namespace recommit::ice {
namespace {

constexpr std::uint64_t kTag = 0x696365ULL;  // separates this puzzle's streams from others of the same purpose
constexpr std::uint32_t kFewestRocks = 4, kMostRocks = 16, kOf = 64;

/// The seed of a request: different requests draw from different streams.
std::uint64_t own_seed(const Request& request, std::uint64_t seed) {
  std::uint64_t hash = Rng::mix(seed ^ kTag);
  for (const int part : {request.shape.rows, request.shape.cols, request.shortest, request.longest}) {
    hash = Rng::mix(hash + static_cast<std::uint64_t>(part));
  }
  return hash;
}

/// Draws one instance.
class Draw {
 public:
  Draw(const Request& request, std::uint64_t seed, std::uint64_t index, Watch* watch)
      : request_(request), rng_(seed, Purpose::Generate, index), watch_(watch) {}

  /// False if no try succeeded.
  bool run(std::uint8_t* out, Distance& length) {
    const auto window = static_cast<std::uint32_t>(request_.longest - request_.shortest + 1);
    const Distance aim = request_.shortest + static_cast<Distance>(rng_.below(window));
    const int aimed = window == Request::kLongest ? 0 : kAimedTries;
    for (int tried = 0; tried < kTries; ++tried) {
      if (watch_ != nullptr) watch_->poll();
      if (!lay_out(out)) continue;
      distances_.read(out, request_.shape, 0);
      length = tried < aimed ? aim : any_length();
      if (place_player(out, length)) return true;
    }
    return false;
  }

 private:
  /// Places rocks, the goal, and the player on it: a valid state for the solver.
  bool lay_out(std::uint8_t* out) {
    const Shape shape = request_.shape;
    const std::uint32_t rocks = kFewestRocks + rng_.below(kMostRocks - kFewestRocks + 1);
    free_.clear();
    std::fill(out, out + shape.cells(), kRock);
    for (int row = 1; row + 1 < shape.rows; ++row) {
      for (int col = 1; col + 1 < shape.cols; ++col) {
        if (rng_.below(kOf) < rocks) continue;
        out[row * shape.cols + col] = kIce;
        free_.push_back(row * shape.cols + col);
      }
    }
    if (free_.size() < 2) return false;
    out[free_[rng_.below(static_cast<std::uint32_t>(free_.size()))]] = kPlayerOnGoal;
    return true;
  }

  /// A uniformly drawn length of the cave within the window; 0 if it has none.
  Distance any_length() {
    lengths_.clear();
    for (const int cell : free_) {
      const Distance length = distances_.at(cell);
      if (length >= request_.shortest && length <= request_.longest) lengths_.push_back(length);
    }
    std::sort(lengths_.begin(), lengths_.end());
    lengths_.erase(std::unique(lengths_.begin(), lengths_.end()), lengths_.end());
    return lengths_.empty() ? 0 : lengths_[rng_.below(static_cast<std::uint32_t>(lengths_.size()))];
  }

  bool place_player(std::uint8_t* out, Distance length) {
    if (length == 0) return false;
    starts_.clear();
    std::copy_if(free_.begin(), free_.end(), std::back_inserter(starts_),
                 [&](int cell) { return distances_.at(cell) == length; });
    if (starts_.empty()) return false;
    out[distances_.player()] = kGoal;
    out[starts_[rng_.below(static_cast<std::uint32_t>(starts_.size()))]] = kPlayer;
    return true;
  }

  const Request& request_;
  Rng rng_;
  Watch* watch_;
  Distances distances_;
  std::vector<int> free_, starts_;
  std::vector<Distance> lengths_;
};

}  // namespace

void check_request(const Request& request) {
  const auto [shape, shortest, longest] = request;
  if (shape.rows < 3 || shape.rows > kMaxSide || shape.cols < 3 || shape.cols > kMaxSide) {
    throw ValueError("size: expected 3..64 by 3..64 cells, outer rock included, got " + std::to_string(shape.rows) +
                     " by " + std::to_string(shape.cols));
  }
  if (shortest < 1 || longest < shortest || longest > Request::kLongest) {
    throw ValueError("length: expected a window within 1.." + std::to_string(Request::kLongest) + ", got " +
                     std::to_string(shortest) + ".." + std::to_string(longest));
  }
}

void generate(const Request& request, std::uint64_t seed, std::uint64_t start, std::uint8_t* states, Distance* lengths,
              std::size_t begin, std::size_t end, Watch* watch) {
  check_request(request);
  const std::uint64_t own = own_seed(request, seed);
  const auto cells = static_cast<std::size_t>(request.shape.cells());
  for (std::size_t i = begin; i < end; ++i) {
    if (Draw(request, own, start + i, watch).run(states + i * cells, lengths[i])) continue;
    throw ValueError("length: none of " + std::to_string(kTries) + " caves of " + std::to_string(request.shape.rows) +
                     " by " + std::to_string(request.shape.cols) + " cells has a start of length " +
                     std::to_string(request.shortest) + ".." + std::to_string(request.longest) + " (seed " +
                     std::to_string(seed) + ", instance " + std::to_string(start + i) + ")");
  }
}

}  // namespace recommit::ice
