// The second deadlock rule: corrals.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <vector>

#include "sokoban/search/deadlock_freeze.hpp"
#include "sokoban/search/push_graph.hpp"

/// The second deadlock rule; soundness is defined in deadlock_freeze.hpp.
namespace recommit::sokoban {

/// Corral deadlocks: an area that the player cannot enter, whose boxes can neither let the player in nor all reach
/// goals, even with all other boxes removed.
///
/// Sound: a solution of the whole level, with pushes of other boxes turned into walks, solves the level with only the
/// corral's boxes. So if all plays of those boxes are tried, pruning only frozen ones, and none ends on goals or opens
/// the corral (which stops the trial as "alive"), there is no solution. A trial that grows too large is also "alive".
/// Not thread-safe.
class Corral {
 public:
  explicit Corral(const PushGraph& graph);

  /// occupied[c] != 0 for boxes and wall(), walk[c] != 0xFFFF in the player's reach; boxes are cells.
  bool dead(const std::vector<std::uint16_t>& boxes, const std::vector<std::uint8_t>& occupied,
            const std::vector<std::uint16_t>& walk, int player);

 private:
  static constexpr std::size_t kMostStates = 200;  ///< of one trial
  static constexpr std::size_t kMostBoxes = 12;
  struct Play {
    std::vector<std::uint16_t> boxes;  // ascending
    std::uint16_t player;              // smallest cell in reach
    auto operator<=>(const Play&) const = default;
  };
  enum class Verdict { Open, Alive, Dead };

  void find_area(int seed, const std::vector<std::uint8_t>& occupied);
  bool trial_fails(int player);
  Verdict add_play(Play play);
  Verdict try_pushes(const Play& play);
  std::uint16_t flood(int player);
  void put(const std::vector<std::uint16_t>& boxes, std::uint8_t value);

  const PushGraph& graph_;
  Freeze freeze_;
  std::vector<std::uint8_t> area_;      ///< 1: in the current corral, 2: in one tried before
  std::vector<std::uint16_t> ring_;     ///< boxes around it
  std::vector<std::uint8_t> occupied_;  ///< of the trial
  std::vector<std::uint8_t> reached_;
  std::vector<std::uint16_t> stack_;
  std::vector<Play> waiting_;
  std::set<Play> seen_;
};

}  // namespace recommit::sokoban
