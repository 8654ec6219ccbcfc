// States at each distance up to a given one, by a search that stops early.
#include "sokoban/table/layers.hpp"

#include <algorithm>

#include "sokoban/table/goal_sets.hpp"
#include "sokoban/table/retrograde.hpp"

namespace recommit::sokoban {
namespace {

struct WatchPause final : retrograde::Pause {
  explicit WatchPause(Watch* watch) : watch_(watch) {}
  bool operator()() override {
    if (watch_ != nullptr) watch_->poll();
    return true;
  }
  Watch* watch_;
};

}  // namespace

void Layers::analyse(const Level& level, int boxes, Distance last, Watch* watch) {
  sets_.emplace(level, boxes);
  cells_ = static_cast<std::size_t>(level.cells());
  counts_.clear();
  if (boxes > level.goals()) return;
  const std::size_t sets = sets_->count();
  distances_.resize(sets * cells_ + retrograde::kSlack);
  std::fill_n(distances_.begin(), sets * cells_, std::uint8_t{0xFF});

  const retrograde::Ground ground(level, *sets_);
  const auto words = static_cast<std::size_t>(retrograde::work_words(sets, ground.words));
  if (work_.size() < words) work_.resize(words);
  retrograde::Progress progress = retrograde::begin(ground, work_.data());
  progress.last = static_cast<std::uint32_t>(std::min(last, 254));
  retrograde::enter_goals(ground, progress, goal_sets(level, boxes));
  WatchPause pause(watch);
  retrograde::run(ground, progress, distances_.data(), pause);
  counts_ = std::move(progress.counts);
}

State Layers::state(Distance distance, std::uint64_t n) const {
  const auto wanted = static_cast<std::uint8_t>(distance);
  const std::uint8_t* row = distances_.data();
  std::uint32_t set = 0;
  for (;; ++set, row += cells_) {
    const auto here = static_cast<std::uint64_t>(std::count(row, row + cells_, wanted));
    if (n < here) break;
    n -= here;
  }
  State out;
  out.boxes.resize(static_cast<std::size_t>(sets_->boxes()));
  sets_->unrank(set, out.boxes.data());
  const std::uint8_t* cell = std::find(row, row + cells_, wanted);
  for (; n > 0; --n) cell = std::find(cell + 1, row + cells_, wanted);
  out.player = static_cast<std::uint16_t>(cell - row);
  return out;
}

}  // namespace recommit::sokoban
