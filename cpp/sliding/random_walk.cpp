// Random steps of the blank that never undo the last one.
#include "sliding/random_walk.hpp"

#include "core/rng.hpp"
#include "sliding/simulate.hpp"

namespace recommit::sliding {
namespace {

void set_goal(std::uint8_t* state, int cells) {
  for (int i = 0; i < cells; ++i) state[i] = static_cast<std::uint8_t>((i + 1) % cells);
}

void walk(std::uint8_t* state, Shape shape, const Moves& moves, Rng& rng) {
  const auto cells = static_cast<std::uint32_t>(shape.cells());
  const std::uint32_t steps = cells * cells / 2 + rng.below(cells * cells / 2 + 1);
  std::size_t blank = cells - 1, previous = cells;
  for (std::uint32_t taken = 0; taken < steps || is_goal(state, shape); ++taken) {
    std::size_t options[kActions];
    std::uint32_t count = 0;
    for (const std::size_t target : moves.to[blank]) {
      if (target != blank && target != previous) options[count++] = target;
    }
    const std::size_t target = options[rng.below(count)];
    state[blank] = state[target];
    state[target] = 0;
    previous = blank;
    blank = target;
  }
}

}  // namespace

void generate_walks(Shape shape, std::uint64_t seed, std::uint64_t start, std::uint8_t* out, std::size_t begin,
                    std::size_t end) {
  const Moves moves(shape);
  for (std::size_t i = begin; i < end; ++i) {
    std::uint8_t* state = out + i * static_cast<std::size_t>(shape.cells());
    set_goal(state, shape.cells());
    Rng rng(seed, Purpose::SlidingGenerate, start + i);
    walk(state, shape, moves, rng);
  }
}

}  // namespace recommit::sliding
