// Helpers of all solver bindings: pieces of a batch, limits, plans as arrays.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "bindings/common/arrays.hpp"
#include "bindings/common/run.hpp"
#include "core/limits.hpp"

/// Helpers of all solver bindings.
namespace recommit::bindings {

using Progress = std::optional<py::function>;

/// Runs body(begin, end, watch) over all states, in chunks between the given minimum and 1024.
template <class Body>
void run_states(std::size_t count, const Threads& threads, const Progress& progress, const Body& body,
                std::size_t least = 1) {
  const int workers = thread_count(threads);
  run_watched(progress, [&](Watch& watch) {
    parallel_for(
        count, workers, solver_grain(count, workers, 1024, least),
        [&](std::size_t begin, std::size_t end) {
          body(begin, end, &watch);
          watch.add(end - begin);
        },
        &watch);
  });
}

/// Plans of a batch as numpy arrays: concatenated actions, and offsets. `plan_of` extracts the plan from an item.
template <class Item, class PlanOf = std::identity>
std::pair<py::array_t<std::uint8_t>, py::array_t<std::int64_t>> pack_plans(const std::vector<Item>& items,
                                                                           PlanOf plan_of = {}) {
  auto offsets = fresh<std::int64_t>({size(items.size()) + 1});
  std::int64_t* at = offsets.mutable_data();
  at[0] = 0;
  for (std::size_t i = 0; i < items.size(); ++i) {
    at[i + 1] = at[i] + static_cast<std::int64_t>(std::invoke(plan_of, items[i]).size());
  }
  auto actions = fresh<std::uint8_t>({static_cast<py::ssize_t>(at[items.size()])});
  std::uint8_t* to = actions.mutable_data();
  for (const Item& item : items) to = std::ranges::copy(std::invoke(plan_of, item), to).out;
  return {actions, offsets};
}

}  // namespace recommit::bindings
