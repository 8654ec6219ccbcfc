// Everything about running episodes that no puzzle changes: seeds, resets and ends.
#include "core/episodes/episodes.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "core/rng.hpp"
#include "core/threads/parallel.hpp"

namespace recommit {
namespace {

constexpr std::size_t kGrain = 4096;  // slots per piece: some 40 us of work; to wake a thread up can take as long

}  // namespace

Episodes::Episodes(std::shared_ptr<const LevelBank> bank, const EpisodesOptions& options)
    : bank_(std::move(bank)),
      options_(options),
      at_(options.slots),
      left_(options.slots),
      steps_(options.slots),
      over_(options.slots),
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
  std::memcpy(grid(slot), bank_->grid(level), cells());
  at_[slot] = bank_->starts[level].at;
  left_[slot] = bank_->starts[level].left;
  steps_[slot] = 0;
  over_[slot] = 0;
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

}  // namespace recommit
