// Generation of levels by rejection until a room has a start of the requested length.
#include "sokoban/generate.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "core/errors.hpp"
#include "core/rng.hpp"
#include "sokoban/level.hpp"
#include "sokoban/rooms/rooms.hpp"
#include "sokoban/simulate.hpp"
#include "sokoban/table/layers.hpp"
#include "sokoban/table/table.hpp"

namespace recommit::sokoban {
namespace {

constexpr std::uint64_t kTag = 0x726f6f6d73ULL;  // separates this generator's streams from others of the same purpose
constexpr int kAimedTries = 6;                   // layouts tried for the drawn length; then any in the window
constexpr std::uint64_t kMostEntries = std::uint64_t{1} << 24;

std::string describe(const Request& request) {
  return std::to_string(request.shape.rows) + " by " + std::to_string(request.shape.cols) + " cells with " +
         std::to_string(request.boxes) + (request.boxes == 1 ? " box" : " boxes");
}

/// The seed of a request: different requests draw from different streams.
std::uint64_t own_seed(const Request& request, std::uint64_t seed) {
  std::uint64_t hash = Rng::mix(seed ^ kTag);
  for (const int part : {request.shape.rows, request.shape.cols, request.boxes, request.shortest, request.longest}) {
    hash = Rng::mix(hash + static_cast<std::uint64_t>(part));
  }
  return request.walked ? Rng::mix(hash) : hash;
}

/// Estimated entries of a table with `cells` floor cells, for the usual share of live cells.
std::uint64_t usual_entries(std::uint64_t cells, int boxes) {
  return multiply_saturated(binomial(cells * 6 / 10, static_cast<std::uint64_t>(boxes)), cells);
}

/// Draws one instance.
class Draw {
 public:
  Draw(const Request& request, std::uint64_t seed, std::uint64_t index, Layers& layers, Watch* watch)
      : request_(request), rng_(seed, Purpose::SokobanGenerate, index), layers_(layers), watch_(watch) {}

  /// False if no try succeeded.
  bool run(std::uint8_t* out, Distance& length) {
    const auto window = static_cast<std::uint32_t>(request_.longest - request_.shortest + 1);
    aim_ = request_.shortest + static_cast<Distance>(rng_.below(window));
    for (int tried = 0; tried < kLayoutTries; ++tried) {
      if (watch_ != nullptr) watch_->poll();
      // If small layouts do not reach the window, larger ones are tried.
      entries_ = std::min(kMostEntries, std::uint64_t{1} << std::min<std::uint32_t>(
                                            24, 14 + rng_.below(5) + static_cast<std::uint32_t>(tried) / 32));
      if (request_.walked) entries_ = kMostEntries;
      if (!lay_out()) continue;
      const Level level = Level::of_state(grid_.data(), request_.shape);
      if (!fits(level)) continue;
      layers_.analyse(level, request_.boxes, request_.longest, watch_);
      length = choose_length(tried < kAimedTries);
      if (length == kUnknown) continue;
      std::copy(grid_.begin(), grid_.end(), out);
      level.write(choose_start(level, length), out);
      return true;
    }
    return false;
  }

 private:
  /// Places walls, goals, and the player at any cell.
  bool lay_out() {
    const auto family = request_.walked ? RoomFamily::Walk : static_cast<RoomFamily>(rng_.below(kRoomFamilies));
    auto most = static_cast<std::uint64_t>(2 * request_.boxes + 4);
    while (most < grid_limit() && usual_entries(most + 1, request_.boxes) <= entries_) ++most;
    grid_ = make_room(family, request_.shape, most, rng_);
    const std::vector<int> floor = floor_cells(grid_);
    if (floor.size() < static_cast<std::size_t>(request_.boxes) + 2) return false;
    if (!place_goals(floor)) return false;
    for (const int cell : floor) {
      std::uint8_t& code = grid_[static_cast<std::size_t>(cell)];
      if (code != kFloor) continue;
      code = kPlayer;
      return true;
    }
    return false;
  }

  std::uint64_t grid_limit() const {
    return static_cast<std::uint64_t>((request_.shape.rows - 2) * (request_.shape.cols - 2));
  }

  /// True if a box can be pushed onto the cell: two floor cells in line on some side.
  bool of_use(int cell) const {
    for (const int step : {-request_.shape.cols, request_.shape.cols, -1, 1}) {
      if (open(cell + step) && open(cell + 2 * step)) return true;
    }
    return false;
  }

  bool open(int cell) const {
    return cell >= 0 && cell < request_.shape.cells() && grid_[static_cast<std::size_t>(cell)] != kWall;
  }

  /// Places goals anywhere, or close together (in half of all layouts except walks).
  bool place_goals(const std::vector<int>& floor) {
    std::vector<int> places;
    std::copy_if(floor.begin(), floor.end(), std::back_inserter(places), [&](int cell) { return of_use(cell); });
    const auto boxes = static_cast<std::size_t>(request_.boxes);
    if (places.size() < boxes) return false;
    rng_.shuffle(places);
    if (!request_.walked && rng_.below(2) == 0) {
      const int row = places[0] / request_.shape.cols, col = places[0] % request_.shape.cols;
      const auto apart = [&](int cell) {
        return std::abs(cell / request_.shape.cols - row) + std::abs(cell % request_.shape.cols - col);
      };
      std::stable_sort(places.begin() + 1, places.end(), [&](int a, int b) { return apart(a) < apart(b); });
    }
    for (std::size_t i = 0; i < boxes; ++i) grid_[static_cast<std::size_t>(places[i])] = kGoal;
    return true;
  }

  /// True if there is room to move, and the analysis is small enough.
  bool fits(const Level& level) const {
    if (level.live_cells() <= request_.boxes) return false;
    const std::uint64_t entries =
        multiply_saturated(BoxSets::count(level, request_.boxes), static_cast<std::uint64_t>(level.cells()));
    return entries <= 2 * entries_;
  }

  Distance choose_length(bool aimed) {
    if (layers_.count(aim_) > 0) return aim_;
    if (aimed) return kUnknown;
    std::vector<Distance> lengths;
    for (Distance d = request_.shortest; d <= request_.longest; ++d) {
      if (layers_.count(d) > 0) lengths.push_back(d);
    }
    return lengths.empty() ? kUnknown : lengths[rng_.below(static_cast<std::uint32_t>(lengths.size()))];
  }

  /// Among a few states at this distance, the one with the fewest boxes on goals.
  State choose_start(const Level& level, Distance length) {
    const std::uint64_t count = layers_.count(length);
    State best;
    std::ptrdiff_t fewest = request_.boxes + 1;
    for (int i = 0; i < 4 && fewest > 0; ++i) {
      State state = layers_.state(length, rng_.below(static_cast<std::uint32_t>(count)));
      const auto home =
          std::count_if(state.boxes.begin(), state.boxes.end(), [&](int box) { return level.is_goal(box); });
      if (home >= fewest) continue;
      fewest = home;
      best = std::move(state);
    }
    return best;
  }

  const Request& request_;
  Rng rng_;
  Layers& layers_;
  Watch* watch_;
  Room grid_;
  Distance aim_ = 0;
  std::uint64_t entries_ = 0;
};

}  // namespace

void check_request(const Request& request) {
  const auto [shape, boxes, shortest, longest, walked] = request;
  if (shape.rows < 3 || shape.rows > kMaxSide || shape.cols < 3 || shape.cols > kMaxSide) {
    throw ValueError("size: expected 3..64 by 3..64 cells, outer wall included, got " + std::to_string(shape.rows) +
                     " by " + std::to_string(shape.cols));
  }
  const int room = (shape.rows - 2) * (shape.cols - 2) - 2;
  if (boxes < 1 || boxes > room) {
    throw ValueError("boxes: expected 1.." + std::to_string(room) + " on " + std::to_string(shape.rows) + " by " +
                     std::to_string(shape.cols) + " cells, got " + std::to_string(boxes));
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
  Layers layers;
  for (std::size_t i = begin; i < end; ++i) {
    if (Draw(request, own, start + i, layers, watch).run(states + i * cells, lengths[i])) continue;
    throw ValueError("length: none of " + std::to_string(kLayoutTries) + " layouts of " + describe(request) +
                     " has a start of length " + std::to_string(request.shortest) + ".." +
                     std::to_string(request.longest) + " (seed " + std::to_string(seed) + ", instance " +
                     std::to_string(start + i) + ")");
  }
}

}  // namespace recommit::sokoban
