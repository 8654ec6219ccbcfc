// The full table of a small shape, made ring by ring from the goal.
#include "sliding/table/full_table.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "core/errors.hpp"
#include "core/threads/once.hpp"
#include "sliding/simulate.hpp"
#include "sliding/table/permutation.hpp"

namespace recommit::sliding {
namespace {

/// Calls put(i, the table's entry of states[i]) for all states.
template <int N, class Put>
void look_up(const std::uint8_t* states, Shape shape, const std::uint8_t* table, std::size_t begin, std::size_t end,
             const Put& put) {
  using Lanes = LaneRanks<N>;
  std::array<std::uint32_t, Lanes::kLanes> ranks;
  std::array<std::uint8_t, Lanes::kLanes * N> rest{};
  for (std::size_t at = begin; at < end; at += Lanes::kLanes) {
    const std::size_t count = std::min(Lanes::kLanes, end - at);
    const std::uint8_t* block = states + at * N;
    if (count < Lanes::kLanes) {  // pad with the last state
      std::memcpy(rest.data(), block, count * N);
      for (std::size_t i = count * N; i < rest.size(); ++i) rest[i] = rest[i - N];
      block = rest.data();
    }
    if (!Lanes(block).ranks(ranks)) {
      for (std::size_t i = 0; i < count; ++i) find_blank(states + (at + i) * N, shape, at + i);  // throws
      refuse_changing(at);
    }
    for (std::size_t i = 0; i < count; ++i) put(at + i, table[ranks[i]]);
  }
}

template <class Put>
void look_up(const std::uint8_t* states, Shape shape, const std::vector<std::uint8_t>& table, std::size_t begin,
             std::size_t end, const Put& put) {
  switch (shape.cells()) {
    case 4: return look_up<4>(states, shape, table.data(), begin, end, put);
    case 6: return look_up<6>(states, shape, table.data(), begin, end, put);
    case 8: return look_up<8>(states, shape, table.data(), begin, end, put);
    case 9: return look_up<9>(states, shape, table.data(), begin, end, put);
    default: return look_up<10>(states, shape, table.data(), begin, end, put);
  }
}

/// The bits of a mask as bytes.
constexpr std::array<std::array<std::uint8_t, kActions>, 1 << kActions> spread_masks() noexcept {
  std::array<std::array<std::uint8_t, kActions>, 1 << kActions> out{};
  for (std::size_t mask = 0; mask < out.size(); ++mask) {
    for (std::size_t action = 0; action < kActions; ++action) out[mask][action] = mask >> action & 1;
  }
  return out;
}
constexpr auto kSpread = spread_masks();

std::size_t permutations(Shape shape) noexcept {
  std::size_t all = 1;
  for (int i = 2; i <= shape.cells(); ++i) all *= static_cast<std::size_t>(i);
  return all;
}

}  // namespace

std::size_t FullTable::bytes_for(Shape shape) noexcept { return 4 * permutations(shape); }

FullTable::FullTable(Shape shape, Watch* watch) : shape_(shape) {
  distance_.assign(permutations(shape), kNone);
  optimal_.assign(distance_.size(), 0);
  by_layer_.reserve(distance_.size() / 2);
  search(watch);
}

void FullTable::search(Watch* watch) {
  const Moves moves(shape_);
  const int n = shape_.cells();
  std::array<std::uint8_t, kMaxTableCells> state{};
  for (int i = 0; i < n; ++i) state[static_cast<std::size_t>(i)] = static_cast<std::uint8_t>((i + 1) % n);
  const std::uint32_t goal = permutation_rank(state.data(), n);
  distance_[goal] = 0;
  by_layer_.push_back(goal);
  layers_ = {0, 1};
  for (std::uint8_t level = 1; layers_.back() > layers_[layers_.size() - 2]; ++level) {
    for (std::size_t i = layers_[layers_.size() - 2]; i < layers_.back(); ++i) {
      if (watch != nullptr && i % 16384 == 0) watch->poll();
      permutation_unrank(by_layer_[i], n, state.data());
      const auto blank = static_cast<std::size_t>(std::find(state.begin(), state.begin() + n, 0) - state.begin());
      for (unsigned action = 0; action < kActions; ++action) {
        const std::size_t target = moves.to[blank][action];
        if (target == blank) continue;
        std::swap(state[blank], state[target]);
        const std::uint32_t rank = permutation_rank(state.data(), n);
        std::swap(state[blank], state[target]);
        if (distance_[rank] < level) continue;
        if (distance_[rank] == kNone) by_layer_.push_back(rank);
        distance_[rank] = level;
        optimal_[rank] = static_cast<std::uint8_t>(optimal_[rank] | 1U << (action ^ 1));  // the reverse move
      }
    }
    std::sort(by_layer_.begin() + layers_.back(), by_layer_.end());
    layers_.push_back(static_cast<std::uint32_t>(by_layer_.size()));
  }
  layers_.pop_back();  // the last layer is empty
}

void FullTable::distances(const std::uint8_t* states, Distance* out, std::size_t begin, std::size_t end) const {
  look_up(states, shape_, distance_, begin, end,
          [&](std::size_t i, std::uint8_t value) { out[i] = value == kNone ? kUnsolvable : value; });
}

void FullTable::optimal_actions(const std::uint8_t* states, std::uint8_t* masks, std::size_t begin,
                                std::size_t end) const {
  look_up(states, shape_, optimal_, begin, end,
          [&](std::size_t i, std::uint8_t mask) { std::memcpy(masks + i * kActions, kSpread[mask].data(), kActions); });
}

Distance FullTable::distance(const std::uint8_t* state) const noexcept {
  const std::uint8_t value = distance_[permutation_rank(state, shape_.cells())];
  return value == kNone ? kUnsolvable : value;
}

unsigned FullTable::optimal_actions(const std::uint8_t* state) const noexcept {
  return optimal_[permutation_rank(state, shape_.cells())];
}

std::uint32_t FullTable::layer_size(Distance distance) const noexcept {
  if (distance < 0 || distance > farthest()) return 0;
  const auto at = static_cast<std::size_t>(distance);
  return layers_[at + 1] - layers_[at];
}

void FullTable::layer_state(Distance distance, std::uint32_t index, std::uint8_t* out) const noexcept {
  permutation_unrank(by_layer_[layers_[static_cast<std::size_t>(distance)] + index], shape_.cells(), out);
}

std::shared_ptr<const FullTable> FullTable::shared(Shape shape, Watch* watch) {
  static auto& tables = forever(new Once<std::pair<int, int>, FullTable>);
  return tables.get({shape.rows, shape.cols}, watch, [&] { return std::make_shared<const FullTable>(shape, watch); });
}

}  // namespace recommit::sliding
