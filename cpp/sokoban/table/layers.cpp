// States by distance up to a limit, by a truncated retrograde search.
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

/// Number of bytes equal to `wanted`. Sums of up to 255 fit a byte, so that a full vector is added at once.
std::uint64_t count_of(std::uint8_t wanted, const std::uint8_t* bytes, std::size_t size) noexcept {
  std::uint64_t count = 0;
  while (size > 0) {
    const std::size_t step = std::min<std::size_t>(size, 255);
    std::uint8_t here = 0;
    for (std::size_t i = 0; i < step; ++i) here = static_cast<std::uint8_t>(here + (bytes[i] == wanted));
    count += here;
    bytes += step;
    size -= step;
  }
  return count;
}

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
  constexpr std::size_t kBlock = 16 * 255;
  const std::uint8_t *const first = distances_.data(), *const end = first + sets_->count() * cells_, *at = first;
  for (;; at += kBlock) {
    const std::uint64_t here = count_of(wanted, at, std::min(kBlock, static_cast<std::size_t>(end - at)));
    if (n < here) break;
    n -= here;
  }
  at = std::find(at, end, wanted);
  for (; n > 0; --n) at = std::find(at + 1, end, wanted);
  const auto entry = static_cast<std::size_t>(at - first);
  State out;
  out.boxes.resize(static_cast<std::size_t>(sets_->boxes()));
  sets_->unrank(static_cast<std::uint32_t>(entry / cells_), out.boxes.data());
  out.player = static_cast<std::uint16_t>(entry % cells_);
  return out;
}

}  // namespace recommit::sokoban
