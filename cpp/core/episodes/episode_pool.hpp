// Running episodes of one puzzle, templated on its rules.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <utility>

#include "core/episodes/episodes.hpp"
#include "core/memory/copy.hpp"

namespace recommit {

/// Episodes of one puzzle. A Game is a small const object with
///   void step(std::uint8_t* grid, std::int32_t& at, std::int32_t& left, std::size_t action) const noexcept;
/// void mask(const std::uint8_t* grid, std::int32_t at, std::uint8_t* out) const noexcept; // 4 bytes (at and left as
/// in Mover), both without branches on the state; all other episode logic is here.
template <class Game>
class EpisodePool final : public Episodes {
 public:
  EpisodePool(std::shared_ptr<const LevelBank> bank, const EpisodesOptions& options)
      : Episodes(std::move(bank), options), game_(bank_->shape) {}

 private:
  /// Slots per copy of observations: their states are still in the L1 cache when they are copied.
  static constexpr std::size_t kBlock = 64;

  void step_slots(const std::uint8_t* actions, const StepResults& out, std::size_t begin, std::size_t end) override {
    for (std::size_t at = begin; at < end; at += kBlock) {
      const std::size_t stop = std::min(end, at + kBlock);
      if (options_.autoreset == Autoreset::NextStep) {
        move_block<true>(actions, at, stop);
      } else {
        move_block<false>(actions, at, stop);
      }
      judge_block(out, at, stop);
      if (options_.autoreset == Autoreset::SameStep) reset_block(at, stop);
      if (out.masks != nullptr) mask_slots(out.masks, at, stop);
      if (out.grids != nullptr) copy_in_pieces(out.grids + at * cells(), grid(at), (stop - at) * cells());
    }
  }

  /// The puzzle-specific part. With `resets`, a finished slot begins its next episode instead.
  template <bool resets>
  void move_block(const std::uint8_t* actions, std::size_t begin, std::size_t end) {
    const Game game = game_;  // local, like the pointers, so that byte stores cannot alias it
    const std::size_t n = cells();
    const std::uint8_t* over = over_.data();
    std::uint8_t* state = grid(begin);
    std::int32_t* ats = at_.data();
    std::int32_t* lefts = left_.data();
    for (std::size_t i = begin; i < end; ++i, state += n) {
      if (resets && over[i] != 0) {
        next_episode(i);
        steps_[i] = -1;  // this step does not count as an action of the new episode
        continue;
      }
      std::int32_t at = ats[i], left = lefts[i];
      game.step(state, at, left, actions[i]);
      ats[i] = at;
      lefts[i] = left;
    }
  }

  /// Rewards and ends, identical for all puzzles and branch-free.
  void judge_block(const StepResults& out, std::size_t begin, std::size_t end) noexcept {
    const std::int32_t max_steps = options_.max_steps;
    const std::size_t count = end - begin;
    const std::int32_t* left = left_.data() + begin;
    std::int32_t* steps = steps_.data() + begin;
    std::uint8_t solved[kBlock], late[kBlock];
    for (std::size_t i = 0; i < count; ++i) {
      const std::int32_t taken = steps[i] + 1;
      steps[i] = taken;
      solved[i] = left[i] == 0;
      late[i] = taken >= max_steps;
    }
    float* rewards = out.rewards + begin;
    std::uint8_t* over = over_.data() + begin;
    for (std::size_t i = 0; i < count; ++i) rewards[i] = static_cast<float>(solved[i]);
    for (std::size_t i = 0; i < count; ++i) over[i] = solved[i] | late[i];
    for (std::size_t i = 0; i < count; ++i) late[i] = static_cast<std::uint8_t>(late[i] & ~solved[i]);
    std::memcpy(out.terminated + begin, solved, count);
    std::memcpy(out.truncated + begin, late, count);
  }

  /// Autoreset::SameStep: saves final observations and begins the next episodes.
  void reset_block(std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      if (over_[i] == 0) continue;
      std::memcpy(final_grid_to(i), grid(i), cells());
      game_.mask(grid(i), at_[i], final_mask_to(i));
      next_episode(i);
    }
  }

  void mask_slots(std::uint8_t* masks, std::size_t begin, std::size_t end) const override {
    const Game game = game_;
    const std::size_t n = cells();
    const std::uint8_t* state = grid(begin);
    const std::int32_t* at = at_.data();
    for (std::size_t i = begin; i < end; ++i, state += n) game.mask(state, at[i], masks + i * kActions);
  }

  Game game_;
};

}  // namespace recommit
