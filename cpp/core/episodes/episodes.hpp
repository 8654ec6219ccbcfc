// Running episodes in slots, for environments.
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

/// Episodes were used by a second thread during a call. Python: RuntimeError.
struct BusyError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// A finished episode was stepped. Python: recommit._core.EpisodeOver.
struct EpisodeOver : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// When a finished episode is reset: in the next step (whose action is ignored), in the same step, or by the caller.
/// Values are those of the bindings.
enum class Autoreset : std::uint8_t { NextStep = 0, SameStep = 1, Disabled = 2 };

struct EpisodesOptions {
  std::size_t slots = 1;
  std::int32_t max_steps = 0;
  Autoreset autoreset = Autoreset::NextStep;
  int threads = 1;
};

/// Outputs of a step, one entry per slot; optional ones may be null. There is no "solved": it equals terminated, and is
/// false after a reset within the step.
struct StepResults {
  float* rewards;
  std::uint8_t* terminated;
  std::uint8_t* truncated;
  std::uint8_t* grids;  ///< optional: a copy of the live states
  std::uint8_t* masks;  ///< optional: 4 per slot, which actions would change the state
};

/// Progress of all slots; together with their states, the full Markov state.
struct Marks {
  std::vector<std::uint64_t> seeds, episodes;  ///< seed of the slot, and index of its episode
  std::vector<std::int32_t> steps;             ///< actions taken in it
  std::vector<std::uint8_t> over;              ///< ended and not reset yet
};

/// N running episodes of one puzzle, stepped together and in place.
///
/// Episode k of a slot starts from level Rng(seed of the slot, Purpose::Episode, k).below(levels) of the bank, so it is
/// a function of (seed, k) alone, independent of other slots, their number, threads and timing. One caller at a time:
/// `Turn` makes a second one fail instead of racing. `grids()` are the live states, at a fixed address for the life of
/// the object.
class Episodes {
 public:
  Episodes(std::shared_ptr<const LevelBank> bank, const EpisodesOptions& options);
  virtual ~Episodes() = default;
  Episodes(const Episodes&) = delete;
  Episodes& operator=(const Episodes&) = delete;

  /// Held during a call that reads or writes episodes; throws BusyError if another call is running.
  class Turn {
   public:
    explicit Turn(Episodes& episodes);
    ~Turn() { episodes_.busy_.store(false, std::memory_order_release); }
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

   private:
    Episodes& episodes_;
  };

  /// One action (0..3, checked by `narrow_actions`) per slot. With Autoreset::Disabled throws EpisodeOver, before any
  /// change, if an episode is over.
  void step(const std::uint8_t* actions, const StepResults& out);

  /// Slots with a seed begin episode 0 of it, the others their next episode. `mask` (one byte per slot) restricts the
  /// reset to some slots; null means all.
  void reset(const std::vector<std::optional<std::uint64_t>>& seeds, const std::uint8_t* mask);

  /// Slots with a nonzero byte in `mask` start from the states in `starts`, in order; their action counts restart.
  /// Throws ValueError unless the states fit the slots.
  void place(const LevelBank& starts, const std::uint8_t* mask);

  /// Draw later episodes from this bank. Throws ValueError unless its levels fit the slots.
  void draw_from(std::shared_ptr<const LevelBank> bank);

  /// Progress of all slots.
  Marks marks() const { return {seeds_, episodes_, steps_, over_}; }
  /// Restore these states, one per slot, and marks. Throws ValueError, changing nothing, unless they fit.
  void restore(const LevelBank& states, const Marks& marks);

  /// Masks and solved flags of the current states.
  void describe(std::uint8_t* masks, std::uint8_t* solved) const;

  const std::uint8_t* grids() const noexcept { return grids_.data(); }
  std::size_t slots() const noexcept { return over_.size(); }
  Shape shape() const noexcept { return bank_->shape; }
  std::size_t cells() const noexcept { return static_cast<std::size_t>(bank_->shape.cells()); }
  const EpisodesOptions& options() const noexcept { return options_; }

  /// Autoreset::SameStep: the slots whose episode ended in the last step, ascending, ...
  const std::vector<std::size_t>& ended() const noexcept { return ended_; }
  /// ... and the final state and mask of such a slot.
  const std::uint8_t* final_grid(std::size_t slot) const noexcept { return final_grids_.data() + slot * cells(); }
  const std::uint8_t* final_mask(std::size_t slot) const noexcept { return final_masks_.data() + slot * kActions; }

 protected:
  virtual void step_slots(const std::uint8_t* actions, const StepResults& out, std::size_t begin, std::size_t end) = 0;
  virtual void mask_slots(std::uint8_t* masks, std::size_t begin, std::size_t end) const = 0;

  /// Loads the level of the slot's current episode.
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
  // One entry per slot, as a structure of arrays, so that puzzle-independent work is vectorised.
  std::vector<std::int32_t> at_, left_;  ///< as in Mover
  std::vector<std::int32_t> steps_;      ///< actions taken in this episode
  std::vector<std::uint8_t> over_;       ///< ended and not reset yet

 private:
  void check_all_running() const;
  void check_fits(const LevelBank& other) const;
  void put(std::size_t slot, const LevelBank& from, std::size_t level) noexcept;
  void collect_ended(const StepResults& out);

  const bool walled_;  ///< of the first bank; stepping relies on it
  std::vector<std::uint8_t> grids_;
  std::vector<std::uint64_t> seeds_, episodes_;
  std::vector<std::uint8_t> final_grids_, final_masks_;
  std::vector<std::size_t> ended_;
  std::atomic<bool> busy_{false};
};

/// Copies actions to bytes. Returns false if one is not 0..3; `out` is then unspecified. For std::uint8_t, std::int32_t
/// and std::int64_t.
template <class Integer>
bool narrow_actions(const Integer* actions, std::size_t count, std::uint8_t* out) noexcept;

}  // namespace recommit
