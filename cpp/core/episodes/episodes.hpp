// Running episodes in slots, as an environment needs them.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <vector>

#include "core/episodes/level_bank.hpp"
#include "core/errors.hpp"
#include "core/types.hpp"

namespace recommit {

/// A second thread used episodes while a call was under way. Python: RuntimeError.
struct BusyError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// An episode that is over was stepped. Python: recommit._core.EpisodeOver.
struct EpisodeOver : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// When a finished episode gives way to the next one: in the step after (whose action is ignored), in the same step,
/// or when the caller resets it. Numbers are those of the bindings.
enum class Autoreset : std::uint8_t { NextStep = 0, SameStep = 1, Disabled = 2 };

struct EpisodesOptions {
  std::size_t slots = 1;
  std::int32_t max_steps = 0;
  Autoreset autoreset = Autoreset::NextStep;
  int threads = 1;
};

/// Where a step writes, one entry per slot. Optional parts are null where nobody wants them. No "solved": a slot that
/// is not terminated is not solved, and after a reset within the step it is not either.
struct StepResults {
  float* rewards;
  std::uint8_t* terminated;
  std::uint8_t* truncated;
  std::uint8_t* grids;  ///< optional: a copy of the live states
  std::uint8_t* masks;  ///< optional: 4 per slot, which actions would change the state
};

/// Where slots are in their episodes; with their states, all that the future depends on.
struct Marks {
  std::vector<std::uint64_t> seeds, episodes;  ///< of the slot, and which of its episodes this is
  std::vector<std::int32_t> steps;             ///< actions taken in it
  std::vector<std::uint8_t> over;              ///< it has ended and was not reset yet
};

/// N running episodes of one puzzle, stepped together and in place.
///
/// Episode k of a slot starts from level Rng(seed of the slot, Purpose::Episode, k).below(levels) of the bank, so it
/// is a function of (seed, k) alone: not of the other slots, of their number, of the thread count or of when it began.
/// One caller at a time: `Turn` makes a second one fail instead of racing. The states are live in `grids()`, which
/// stays where it is for the life of the object.
class Episodes {
 public:
  Episodes(std::shared_ptr<const LevelBank> bank, const EpisodesOptions& options);
  virtual ~Episodes() = default;
  Episodes(const Episodes&) = delete;
  Episodes& operator=(const Episodes&) = delete;

  /// Held for the length of a call that reads or writes episodes; throws BusyError if another one is under way.
  class Turn {
   public:
    explicit Turn(Episodes& episodes);
    ~Turn() { episodes_.busy_.store(false, std::memory_order_release); }
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

   private:
    Episodes& episodes_;
  };

  /// One action (0..3, checked by `narrow_actions`) per slot. With Autoreset::Disabled throws EpisodeOver, before
  /// anything changes, if some episode is over.
  void step(const std::uint8_t* actions, const StepResults& out);

  /// Slots with a seed begin episode 0 of it, the others their next episode. `mask` (one byte per slot) restricts the
  /// reset to some slots; null means all.
  void reset(const std::vector<std::optional<std::uint64_t>>& seeds, const std::uint8_t* mask);

  /// Slots whose byte in `mask` is not 0 start from states of their own, the first such slot from number 0 of `starts`,
  /// and so on; how many actions they took counts from here. Throws ValueError unless the states fit the slots.
  void place(const LevelBank& starts, const std::uint8_t* mask);

  /// Later episodes draw from this bank. Throws ValueError unless its levels fit the slots.
  void draw_from(std::shared_ptr<const LevelBank> bank);

  /// Where every slot is.
  Marks marks() const { return {seeds_, episodes_, steps_, over_}; }
  /// Goes on from these states, one per slot, and marks. Throws ValueError, and changes nothing, unless they fit.
  void restore(const LevelBank& states, const Marks& marks);

  /// Masks and solved flags of the states as they are.
  void describe(std::uint8_t* masks, std::uint8_t* solved) const;

  const std::uint8_t* grids() const noexcept { return grids_.data(); }
  std::size_t slots() const noexcept { return over_.size(); }
  Shape shape() const noexcept { return bank_->shape; }
  std::size_t cells() const noexcept { return static_cast<std::size_t>(bank_->shape.cells()); }
  const EpisodesOptions& options() const noexcept { return options_; }

  /// Autoreset::SameStep: the slots whose episode ended in the last step, ascending, ...
  const std::vector<std::size_t>& ended() const noexcept { return ended_; }
  /// ... and the state in which such a slot ended, with its mask.
  const std::uint8_t* final_grid(std::size_t slot) const noexcept { return final_grids_.data() + slot * cells(); }
  const std::uint8_t* final_mask(std::size_t slot) const noexcept { return final_masks_.data() + slot * kActions; }

 protected:
  virtual void step_slots(const std::uint8_t* actions, const StepResults& out, std::size_t begin, std::size_t end) = 0;
  virtual void mask_slots(std::uint8_t* masks, std::size_t begin, std::size_t end) const = 0;

  /// Puts the level of the slot's current episode into it.
  void begin_episode(std::size_t slot) noexcept;
  void next_episode(std::size_t slot) noexcept {
    ++episodes_[slot];
    begin_episode(slot);
  }
  std::uint8_t* grid(std::size_t slot) noexcept { return grids_.data() + slot * cells(); }
  const std::uint8_t* grid(std::size_t slot) const noexcept { return grids_.data() + slot * cells(); }
  std::uint8_t* final_grid_to(std::size_t slot) noexcept { return final_grids_.data() + slot * cells(); }
  std::uint8_t* final_mask_to(std::size_t slot) noexcept { return final_masks_.data() + slot * kActions; }

  std::shared_ptr<const LevelBank> bank_;
  EpisodesOptions options_;
  // One entry per slot, in arrays of their own, so that what does not depend on the puzzle is done several at a time.
  std::vector<std::int32_t> at_, left_;  ///< as in Mover
  std::vector<std::int32_t> steps_;      ///< actions taken in this episode
  std::vector<std::uint8_t> over_;       ///< the episode has ended and was not reset yet

 private:
  void check_all_running() const;
  void check_fits(const LevelBank& other) const;
  void put(std::size_t slot, const LevelBank& from, std::size_t level) noexcept;
  void collect_ended(const StepResults& out);

  const bool walled_;  ///< the first bank's: stepping relies on it
  std::vector<std::uint8_t> grids_;
  std::vector<std::uint64_t> seeds_, episodes_;
  std::vector<std::uint8_t> final_grids_, final_masks_;
  std::vector<std::size_t> ended_;
  std::atomic<bool> busy_{false};
};

/// Copies actions to bytes. False if one is not 0..3; then nothing is said about `out`. From std::uint8_t, std::int32_t
/// and std::int64_t.
template <class Integer>
bool narrow_actions(const Integer* actions, std::size_t count, std::uint8_t* out) noexcept;

}  // namespace recommit
