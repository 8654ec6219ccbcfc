// Complete enumeration of small levels, the judge of everything cleverer.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/rng.hpp"
#include "sokoban/level.hpp"
#include "sokoban/simulate.hpp"

/// Complete enumeration of small levels on raw grids, the judge of everything cleverer. It shares no code with the
/// search but the simulator.
namespace enumeration {

using namespace recommit;
using namespace recommit::sokoban;
using Grid = std::vector<std::uint8_t>;

struct Space {
  Shape shape;
  std::vector<Grid> states;        ///< all that can be reached from the first
  std::vector<std::int32_t> next;  ///< 4 per state
  std::vector<Distance> distance;  ///< exact, kUnsolvable where there is no way
};

inline Grid parse(const std::string& rows, Shape& shape) {  // rows end with '/'
  shape = {static_cast<int>(std::count(rows.begin(), rows.end(), '/')), static_cast<int>(rows.find('/'))};
  const std::string symbols = " #.$*@+";
  Grid grid;
  for (const char c : rows) {
    if (c != '/') grid.push_back(static_cast<std::uint8_t>(symbols.find(c)));
  }
  return grid;
}

/// False if there are more than `most` states.
inline bool explore(const Grid& start, Shape shape, std::size_t most, Space& out) {
  out = {shape, {start}, {}, {}};
  std::unordered_map<std::string, std::int32_t> number;
  const auto key = [](const Grid& g) { return std::string(g.begin(), g.end()); };
  number.emplace(key(start), 0);
  for (std::size_t i = 0; i < out.states.size(); ++i) {
    for (int action = 0; action < kActions; ++action) {
      Grid after = out.states[i];
      int player = find_player(after.data(), shape, 0);
      move(after.data(), shape, player, action);
      const auto [at, fresh] = number.emplace(key(after), static_cast<std::int32_t>(out.states.size()));
      if (fresh) out.states.push_back(std::move(after));
      out.next.push_back(at->second);
    }
    if (out.states.size() > most) return false;
  }
  std::vector<std::vector<std::int32_t>> before(out.states.size());
  for (std::size_t i = 0; i < out.next.size(); ++i) {
    before[static_cast<std::size_t>(out.next[i])].push_back(static_cast<std::int32_t>(i / 4));
  }
  out.distance.assign(out.states.size(), kUnsolvable);
  std::vector<std::int32_t> queue;
  for (std::size_t i = 0; i < out.states.size(); ++i) {
    if (!is_goal(out.states[i].data(), shape)) continue;
    out.distance[i] = 0;
    queue.push_back(static_cast<std::int32_t>(i));
  }
  for (std::size_t head = 0; head < queue.size(); ++head) {
    const auto here = static_cast<std::size_t>(queue[head]);
    for (const std::int32_t there : before[here]) {
      if (out.distance[static_cast<std::size_t>(there)] != kUnsolvable) continue;
      out.distance[static_cast<std::size_t>(there)] = out.distance[here] + 1;
      queue.push_back(there);
    }
  }
  return true;
}

/// A room with walls, boxes and goals anywhere: solvable or not, goals and boxes in corners, walled-off parts.
inline Grid random_level(Shape shape, int boxes, int walls, Rng& rng) {
  Grid grid(static_cast<std::size_t>(shape.cells()), std::uint8_t{kWall});
  std::vector<std::size_t> inside;
  for (int row = 1; row + 1 < shape.rows; ++row) {
    for (int col = 1; col + 1 < shape.cols; ++col) inside.push_back(static_cast<std::size_t>(row * shape.cols + col));
  }
  for (const std::size_t cell : inside) grid[cell] = kFloor;
  rng.shuffle(inside);
  std::size_t next = 0;
  for (int i = 0; i < walls; ++i) grid[inside[next++]] = kWall;
  const std::size_t first = next;
  for (int i = 0; i < boxes; ++i) grid[inside[next++]] = kBox;
  grid[inside[next++]] = kPlayer;
  std::vector<std::size_t> open(inside.begin() + static_cast<std::ptrdiff_t>(first), inside.end());
  rng.shuffle(open);
  for (std::size_t i = 0; i < static_cast<std::size_t>(boxes); ++i) {
    std::uint8_t& cell = grid[open[i]];
    cell = cell == kBox ? kBoxOnGoal : cell == kPlayer ? kPlayerOnGoal : kGoal;
  }
  return grid;
}

}  // namespace enumeration
