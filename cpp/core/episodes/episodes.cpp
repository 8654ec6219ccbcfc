// The puzzle-independent part of running episodes: seeds, resets and ends.
#include "core/episodes/episodes.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "core/rng.hpp"
#include "core/threads/parallel.hpp"

namespace recommit {
namespace {

constexpr std::size_t kGrain = 4096;  // slots per chunk: some 40 us of work, about the cost of waking a thread

}  // namespace

Episodes::Episodes(std::shared_ptr<const LevelBank> bank, const EpisodesOptions& options)
    : bank_(std::move(bank)),
      options_(options),
      at_(options.slots),
      left_(options.slots),
      steps_(options.slots),
      over_(options.slots),
      walled_(bank_->walled),
      seeds_(options.slots),
      episodes_(options.slots) {
  if (bank_->count() == 0) throw ValueError("levels: expected at least one level, got none");
  grids_.resize(slots() * cells());
  if (options_.autoreset == Autoreset::SameStep) {
    final_grids_.resize(grids_.size());
    final_masks_.resize(slots() * kActions);
  }
  for (std::size_t i = 0; i < slots(); ++i) begin_episode(i);
}

Episodes::Turn::Turn(Episodes& episodes) : episodes_(episodes) {
  if (episodes_.busy_.exchange(true, std::memory_order_acquire)) {
    throw BusyError("env: expected one caller at a time, got a second thread while a call is under way");
  }
}

void Episodes::begin_episode(std::size_t slot) noexcept {
  Rng rng(seeds_[slot], Purpose::Episode, episodes_[slot]);
  const std::size_t level = rng.below(static_cast<std::uint32_t>(bank_->count()));
  put(slot, *bank_, level);
}

void Episodes::put(std::size_t slot, const LevelBank& from, std::size_t level) noexcept {
  std::memcpy(grid(slot), from.grid(level), cells());
  at_[slot] = from.starts[level].at;
  left_[slot] = from.starts[level].left;
  steps_[slot] = 0;
  over_[slot] = 0;
}

void Episodes::check_fits(const LevelBank& other) const {
  if (!(other.shape == shape())) {
    const auto text = [](Shape shape) { return std::to_string(shape.rows) + "x" + std::to_string(shape.cols); };
    throw ValueError("levels: expected states of " + text(shape()) + " cells, got " + text(other.shape));
  }
  if (walled_ && !other.walled)
    throw ValueError("levels: expected walls all around, as in the levels before, got none");
}

void Episodes::place(const LevelBank& starts, const std::uint8_t* mask) {
  check_fits(starts);
  const auto wanted = slots() - static_cast<std::size_t>(std::count(mask, mask + slots(), 0));
  if (wanted != starts.count()) {
    throw ValueError("levels: expected " + std::to_string(wanted) + " states, one per slot that starts, got " +
                     std::to_string(starts.count()));
  }
  std::size_t level = 0;
  for (std::size_t i = 0; i < slots(); ++i) {
    if (mask[i] != 0 && level < starts.count()) put(i, starts, level++);  // the caller may write concurrently
  }
  ended_.clear();
}

void Episodes::draw_from(std::shared_ptr<const LevelBank> bank) {
  check_fits(*bank);
  bank_ = std::move(bank);
}

void Episodes::restore(const LevelBank& states, const Marks& marks) {
  check_fits(states);
  for (const std::size_t size :
       {states.count(), marks.seeds.size(), marks.episodes.size(), marks.steps.size(), marks.over.size()}) {
    if (size == slots()) continue;
    throw ValueError("marks: expected " + std::to_string(slots()) + " slots, got " + std::to_string(size));
  }
  for (const std::int32_t steps : marks.steps) {
    if (steps >= 0 && steps <= options_.max_steps) continue;
    throw ValueError("marks: expected 0.." + std::to_string(options_.max_steps) + " steps, got " +
                     std::to_string(steps));
  }
  for (std::size_t i = 0; i < slots(); ++i) put(i, states, i);
  seeds_ = marks.seeds;
  episodes_ = marks.episodes;
  steps_ = marks.steps;
  for (std::size_t i = 0; i < slots(); ++i) over_[i] = marks.over[i] != 0;
  ended_.clear();
}

void Episodes::step(const std::uint8_t* actions, const StepResults& out) {
  if (options_.autoreset == Autoreset::Disabled) check_all_running();
  parallel_for(slots(), options_.threads, kGrain,
               [&](std::size_t begin, std::size_t end) { step_slots(actions, out, begin, end); });
  if (options_.autoreset == Autoreset::SameStep) collect_ended(out);
}

void Episodes::check_all_running() const {
  const auto ended = std::find(over_.begin(), over_.end(), 1);
  if (ended == over_.end()) return;
  const auto first = ended - over_.begin();
  throw EpisodeOver("actions: expected running episodes in all " + std::to_string(slots()) +
                    " slots, got one that is over in slot " + std::to_string(first) + "; reset it first");
}

void Episodes::collect_ended(const StepResults& out) {
  ended_.clear();
  for (std::size_t i = 0; i < slots(); ++i) {
    if ((out.terminated[i] | out.truncated[i]) != 0) ended_.push_back(i);
  }
}

void Episodes::reset(const std::vector<std::optional<std::uint64_t>>& seeds, const std::uint8_t* mask) {
  parallel_for(slots(), options_.threads, kGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      if (mask != nullptr && mask[i] == 0) continue;
      if (seeds[i]) {
        seeds_[i] = *seeds[i];
        episodes_[i] = 0;
      } else {
        ++episodes_[i];
      }
      begin_episode(i);
    }
  });
  ended_.clear();
}

void Episodes::describe(std::uint8_t* masks, std::uint8_t* solved) const {
  parallel_for(slots(), options_.threads, kGrain, [&](std::size_t begin, std::size_t end) {
    mask_slots(masks, begin, end);
    for (std::size_t i = begin; i < end; ++i) solved[i] = left_[i] == 0;
  });
}

template <class Integer>
bool narrow_actions(const Integer* actions, std::size_t count, std::uint8_t* out) noexcept {
  Integer seen = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const Integer action = actions[i];  // read once: another thread may write it
    seen = static_cast<Integer>(seen | action);
    out[i] = static_cast<std::uint8_t>(action);
  }
  return (seen & ~Integer{kActions - 1}) == 0;
}

template bool narrow_actions(const std::uint8_t* actions, std::size_t count, std::uint8_t* out) noexcept;
template bool narrow_actions(const std::int32_t* actions, std::size_t count, std::uint8_t* out) noexcept;
template bool narrow_actions(const std::int64_t* actions, std::size_t count, std::uint8_t* out) noexcept;

}  // namespace recommit
