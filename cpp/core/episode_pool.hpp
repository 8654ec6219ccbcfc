#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <utility>

#include "core/episodes.hpp"

namespace recommit {

/// Episodes of one puzzle. A Game is a small const object with
///   void step(std::uint8_t* grid, Mover& mover, std::size_t action) const noexcept;
///   void mask(const std::uint8_t* grid, const Mover& mover, std::uint8_t* out) const noexcept;   // 4 bytes
/// both without branches on the state; everything else about running episodes is here.
template <class Game>
class EpisodePool final : public Episodes {
 public:
  EpisodePool(std::shared_ptr<const LevelBank> bank, const EpisodesOptions& options)
      : Episodes(std::move(bank), options), game_(bank_->shape) {}

 private:
  /// Slots between two copies of observations: their states are still in the nearest cache when they are copied.
  static constexpr std::size_t kBlock = 64;

  void step_slots(const std::uint8_t* actions, const StepResults& out, std::size_t begin, std::size_t end) override {
    for (std::size_t at = begin; at < end; at += kBlock) {
      const std::size_t stop = std::min(end, at + kBlock);
      switch (options_.autoreset) {
        case Autoreset::NextStep: step_block<Autoreset::NextStep>(actions, out, at, stop); break;
        case Autoreset::SameStep: step_block<Autoreset::SameStep>(actions, out, at, stop); break;
        case Autoreset::Disabled: step_block<Autoreset::Disabled>(actions, out, at, stop); break;
      }
      if (out.masks != nullptr) mask_slots(out.masks, at, stop);
      if (out.grids != nullptr) std::memcpy(out.grids + at * cells(), grid(at), (stop - at) * cells());
    }
  }

  template <Autoreset mode>
  void step_block(const std::uint8_t* actions, const StepResults& out, std::size_t begin, std::size_t end) {
    const Game game = game_;  // on the stack, like `to`: byte stores cannot alias them
    const std::int32_t max_steps = options_.max_steps;
    const std::size_t n = cells();
    std::uint8_t* state = grid(begin);
    Slot* slots = slots_.data();
    const StepResults to = out;
    for (std::size_t i = begin; i < end; ++i, state += n) {
      Slot slot = slots[i];
      if (mode == Autoreset::NextStep && slot.over != 0) {
        next_episode(i);
        to.rewards[i] = 0.0F;
        to.terminated[i] = to.truncated[i] = 0;
        continue;
      }
      game.step(state, slot.mover, actions[i]);
      const bool solved = slot.mover.left == 0;
      const bool late = ++slot.steps >= max_steps;
      slot.over = solved | late;
      slots[i] = slot;
      to.rewards[i] = solved ? 1.0F : 0.0F;
      to.terminated[i] = solved;
      to.truncated[i] = late & !solved;
      if (mode == Autoreset::SameStep && slot.over != 0) {
        std::memcpy(final_grid_to(i), state, n);
        game.mask(state, slot.mover, final_mask_to(i));
        next_episode(i);
      }
    }
  }

  void mask_slots(std::uint8_t* masks, std::size_t begin, std::size_t end) const override {
    const Game game = game_;
    const std::size_t n = cells();
    const std::uint8_t* state = grid(begin);
    const Slot* slots = slots_.data();
    for (std::size_t i = begin; i < end; ++i, state += n) game.mask(state, slots[i].mover, masks + i * kActions);
  }

  Game game_;
};

}  // namespace recommit
