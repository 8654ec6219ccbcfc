// Exact distances and optimal plans of the icy cave.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/types.hpp"

/// Solves batches. Consecutive states of one cave share its distances.
namespace recommit::ice {

void distance(const std::uint8_t* states, Shape shape, Distance* out, std::size_t begin, std::size_t end);

/// masks[i][a]: 1 if action a lowers the distance of states[i] by one.
void optimal_actions(const std::uint8_t* states, Shape shape, std::uint8_t* masks, std::size_t begin, std::size_t end);

enum class Ties : std::uint8_t { First, Random };

/// plans[i]: an optimal plan, empty if unsolvable; lengths[i]: its distance. Random ties are drawn by (seed, i).
void solve(const std::uint8_t* states, Shape shape, Ties ties, std::uint64_t seed, std::vector<std::uint8_t>* plans,
           Distance* lengths, std::size_t begin, std::size_t end);

}  // namespace recommit::ice
