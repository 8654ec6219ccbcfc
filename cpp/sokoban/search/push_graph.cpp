// Construction of the push graph of a lone box.
#include "sokoban/search/push_graph.hpp"

#include <algorithm>

namespace recommit::sokoban {
namespace {

/// Directions in circular order, so that neighbours in this list share a corner.
constexpr int kRing[4] = {0, 3, 1, 2};

}  // namespace

PushGraph::PushGraph(const Level& level, bool sides) {
  number(level);
  find_parts(sides);
  link();
  mark_sides();
}

std::size_t PushGraph::bytes_for(const Level& level) noexcept {
  const auto cells = static_cast<std::size_t>(level.cells()) + 1, live = at(level.live_cells());
  return cells * 14 + live * (10 + 4 * (sizeof(Arc) + 4) * 2);
}

void PushGraph::number(const Level& level) {
  cells_ = level.cells();
  next_.resize(at(cells_) + 1);
  goal_.resize(at(cells_) + 1);
  live_of_.assign(at(cells_) + 1, kNoCell);
  next_[at(wall())].fill(static_cast<std::uint16_t>(wall()));
  for (int cell = 0; cell < cells_; ++cell) {
    for (int action = 0; action < kActions; ++action) {
      const std::uint16_t there = level.neighbor(cell, action);
      next_[at(cell)][at(action)] = there == kNoCell ? static_cast<std::uint16_t>(wall()) : there;
    }
    if (level.is_goal(cell)) {
      goal_[at(cell)] = 1;
      goals_.push_back(static_cast<std::uint16_t>(cell));
    }
    if (level.is_live(cell)) {
      live_of_[at(cell)] = static_cast<std::uint16_t>(cell_of_live_.size());
      cell_of_live_.push_back(static_cast<std::uint16_t>(cell));
    }
  }
  for (const int goal : goals_) {
    for (int action = 0; action < kActions; ++action) {
      const int end = next(goal, action);
      if (end != wall() && next(end, action) != wall()) ends_.push_back(static_cast<std::uint16_t>(end));
    }
  }
}

/// Sides that share an open corner are connected directly; only if that leaves several parts, a flood fill decides.
void PushGraph::find_parts(bool sides) {
  part_.resize(cell_of_live_.size());
  std::vector<std::uint32_t> seen(at(cells_) + 1);
  std::vector<int> stack;
  std::uint32_t stamp = 0;
  for (std::size_t live = 0; live < part_.size(); ++live) {
    auto& part = part_[live];
    part.fill(0);
    if (!sides) continue;
    const int box = cell_of_live_[live];
    int open = 0, joined = 0;
    for (int k = 0; k < 4; ++k) {
      const int here = kRing[k], turn = kRing[(k + 1) & 3];
      if (next(box, here) == wall()) continue;
      ++open;
      joined += next(box, turn) != wall() && next(next(box, here), turn) != wall();
    }
    if (joined >= open - 1) continue;
    seen[at(wall())] = ++stamp;
    seen[at(box)] = stamp;
    std::uint8_t parts = 0;
    for (int side = 0; side < kActions; ++side) {
      const int from = next(box, side);
      if (from == wall() || seen[at(from)] == stamp) continue;
      seen[at(from)] = stamp;
      stack.push_back(from);
      while (!stack.empty()) {
        const int here = stack.back();
        stack.pop_back();
        for (int action = 0; action < kActions; ++action) {
          const int there = next(here, action);
          if (there == box && here == next(box, action ^ 1)) part[at(action ^ 1)] = parts;
          if (seen[at(there)] == stamp) continue;
          seen[at(there)] = stamp;
          stack.push_back(there);
        }
      }
      ++parts;
    }
  }
}

void PushGraph::link() {
  for (int live = 0; live < live_cells(); ++live) {
    const int box = cell_of(live);
    for (int action = 0; action < kActions; ++action) {  // direction of the last push
      const int behind = next(box, action ^ 1), further = next(behind, action ^ 1);
      if (behind == wall() || further == wall() || !is_live(behind)) continue;
      const int before = live_of(behind);
      arcs_.push_back({static_cast<std::uint16_t>(before * 4 + part_[at(before)][at(action ^ 1)]),
                       static_cast<std::uint16_t>(live * 4 + part_[at(live)][at(action ^ 1)]),
                       static_cast<std::uint16_t>(further), static_cast<std::uint16_t>(behind)});
    }
  }
  std::stable_sort(arcs_.begin(), arcs_.end(), [](const Arc& a, const Arc& b) { return a.to < b.to; });
  arcs_begin_.assign(at(live_cells()) * 4 + 1, 0);
  for (const Arc& arc : arcs_) ++arcs_begin_[arc.to + std::size_t{1}];
  for (std::size_t i = 1; i < arcs_begin_.size(); ++i) arcs_begin_[i] += arcs_begin_[i - 1];
}

void PushGraph::mark_sides() {
  std::vector<std::uint8_t> lives(at(live_cells()) * 4);
  std::vector<std::uint16_t> stack;
  const auto mark = [&](std::uint16_t state) {
    if (lives[state] != 0) return;
    lives[state] = 1;
    stack.push_back(state);
  };
  for (const int goal : goals_) {
    for (int part = 0; part < 4; ++part) mark(static_cast<std::uint16_t>(live_of(goal) * 4 + part));
  }
  while (!stack.empty()) {
    const std::uint16_t state = stack.back();
    stack.pop_back();
    for (std::uint32_t i = arcs_begin_[state]; i < arcs_begin_[state + std::size_t{1}]; ++i) mark(arcs_[i].from);
  }
  side_lives_.resize(at(live_cells()));
  for (std::size_t live = 0; live < side_lives_.size(); ++live) {
    for (std::size_t side = 0; side < kActions; ++side)
      side_lives_[live][side] = lives[live * 4 + part_[live][side]] != 0;
  }
}

void PushGraph::costs(const std::vector<std::int16_t>& potential, std::uint16_t* out) const {
  const std::size_t states = at(live_cells()) * 4, width = at(goals());
  std::vector<std::uint16_t> best(states);
  std::array<std::vector<std::uint16_t>, 3> bucket;  // of cost modulo 3: an arc costs at most 2
  for (std::size_t g = 0; g < width; ++g) {
    std::fill(best.begin(), best.end(), kFar);
    std::size_t waiting = 0;
    for (int part = 0; part < 4; ++part) {
      const int state = live_of(goals_[g]) * 4 + part;
      best[at(state)] = 0;
      bucket[0].push_back(static_cast<std::uint16_t>(state));
      ++waiting;
    }
    for (std::uint16_t cost = 0; waiting > 0; ++cost) {
      auto& now = bucket[cost % 3];
      while (!now.empty()) {
        const std::uint16_t state = now.back();
        now.pop_back();
        --waiting;
        if (best[state] != cost) continue;
        for (std::uint32_t i = arcs_begin_[state]; i < arcs_begin_[state + std::size_t{1}]; ++i) {
          const Arc& arc = arcs_[i];
          const int step = 1 + potential[arc.player_to] - potential[arc.player_from];
          const auto total = static_cast<std::uint16_t>(cost + step);
          if (total >= best[arc.from]) continue;
          best[arc.from] = total;
          bucket[total % 3].push_back(arc.from);
          ++waiting;
        }
      }
    }
    for (std::size_t live = 0; live < at(live_cells()); ++live) {
      out[live * width + g] = *std::min_element(best.begin() + static_cast<std::ptrdiff_t>(live * 4),
                                                best.begin() + static_cast<std::ptrdiff_t>(live * 4 + 4));
    }
  }
}

}  // namespace recommit::sokoban
