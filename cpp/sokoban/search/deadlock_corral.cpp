// Exhaustive trial of a corral's boxes.
#include "sokoban/search/deadlock_corral.hpp"

#include <algorithm>
#include <utility>

namespace recommit::sokoban {
namespace {

constexpr std::uint16_t kOutside = 0xFFFF;
}  // namespace

Corral::Corral(const PushGraph& graph)
    : graph_(graph),
      freeze_(graph),
      area_(at(graph.cells()) + 1),
      occupied_(at(graph.cells()) + 1),
      reached_(at(graph.cells()) + 1) {
  occupied_.back() = 1;
}

void Corral::put(const std::vector<std::uint16_t>& boxes, std::uint8_t value) {
  for (const std::uint16_t box : boxes) occupied_[box] = value;
}

/// Marks the player's reach; returns its smallest cell as identifier.
std::uint16_t Corral::flood(int player) {
  std::fill(reached_.begin(), reached_.end(), std::uint8_t{0});
  auto least = static_cast<std::uint16_t>(player);
  reached_[at(player)] = 1;
  stack_.assign(1, least);
  while (!stack_.empty()) {
    const int here = stack_.back();
    stack_.pop_back();
    least = std::min(least, static_cast<std::uint16_t>(here));
    for (int action = 0; action < kActions; ++action) {
      const int there = graph_.next(here, action);
      if (occupied_[at(there)] != 0 || reached_[at(there)] != 0) continue;
      reached_[at(there)] = 1;
      stack_.push_back(static_cast<std::uint16_t>(there));
    }
  }
  return least;
}

/// Finds the closed-off area around `seed`, and the boxes around it.
void Corral::find_area(int seed, const std::vector<std::uint8_t>& occupied) {
  ring_.clear();
  area_[at(seed)] = 1;
  stack_.assign(1, static_cast<std::uint16_t>(seed));
  while (!stack_.empty()) {
    const int here = stack_.back();
    stack_.pop_back();
    for (int action = 0; action < kActions; ++action) {
      const int there = graph_.next(here, action);
      if (there == graph_.wall() || area_[at(there)] == 1) continue;
      if (occupied[at(there)] != 0) {
        ring_.push_back(static_cast<std::uint16_t>(there));
      } else {
        area_[at(there)] = 1;
        stack_.push_back(static_cast<std::uint16_t>(there));
      }
    }
  }
  std::sort(ring_.begin(), ring_.end());
  ring_.erase(std::unique(ring_.begin(), ring_.end()), ring_.end());
}

Corral::Verdict Corral::add_play(Play play) {
  put(play.boxes, 1);
  play.player = flood(play.player);
  const auto on_goal = [&](std::uint16_t box) { return graph_.is_goal(box); };
  bool alive = std::all_of(play.boxes.begin(), play.boxes.end(), on_goal);
  for (std::size_t cell = 0; cell < area_.size() && !alive; ++cell) alive = area_[cell] == 1 && reached_[cell] != 0;
  put(play.boxes, 0);
  if (alive || seen_.size() >= kMostStates) return Verdict::Alive;
  if (seen_.insert(play).second) waiting_.push_back(std::move(play));
  return Verdict::Open;
}

Corral::Verdict Corral::try_pushes(const Play& play) {
  for (std::size_t i = 0; i < play.boxes.size(); ++i) {
    const int box = play.boxes[i];
    for (int action = 0; action < kActions; ++action) {
      put(play.boxes, 1);
      flood(play.player);
      const int behind = graph_.next(box, action ^ 1), ahead = graph_.next(box, action);
      bool possible =
          behind != graph_.wall() && reached_[at(behind)] != 0 && occupied_[at(ahead)] == 0 && graph_.is_live(ahead);
      if (possible) {
        occupied_[at(box)] = 0;
        occupied_[at(ahead)] = 1;
        possible = !freeze_.dead(ahead, occupied_);
        occupied_[at(ahead)] = 0;
      }
      put(play.boxes, 0);
      if (!possible) continue;
      Play after{play.boxes, static_cast<std::uint16_t>(box)};
      after.boxes[i] = static_cast<std::uint16_t>(ahead);
      std::sort(after.boxes.begin(), after.boxes.end());
      if (add_play(std::move(after)) == Verdict::Alive) return Verdict::Alive;
    }
  }
  return Verdict::Open;
}

bool Corral::trial_fails(int player) {
  waiting_.clear();
  seen_.clear();
  if (add_play({ring_, static_cast<std::uint16_t>(player)}) == Verdict::Alive) return false;
  while (!waiting_.empty()) {
    const Play play = std::move(waiting_.back());
    waiting_.pop_back();
    if (try_pushes(play) == Verdict::Alive) return false;
  }
  return true;
}

bool Corral::dead(const std::vector<std::uint16_t>& boxes, const std::vector<std::uint8_t>& occupied,
                  const std::vector<std::uint16_t>& walk, int player) {
  std::fill(area_.begin(), area_.end(), std::uint8_t{0});
  const auto closed_off = [&](int cell) {
    return cell != graph_.wall() && occupied[at(cell)] == 0 && walk[at(cell)] == kOutside && area_[at(cell)] == 0;
  };
  for (const std::uint16_t box : boxes) {
    for (int action = 0; action < kActions; ++action) {
      const int seed = graph_.next(box, action);
      if (!closed_off(seed)) continue;
      find_area(seed, occupied);
      if (ring_.size() <= kMostBoxes && trial_fails(player)) return true;
      for (std::uint8_t& mark : area_) mark = mark == 0 ? 0 : 2;
    }
  }
  return false;
}

}  // namespace recommit::sokoban
