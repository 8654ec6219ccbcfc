// Extraction of plans from a finished search, including the lexicographically smallest.
#include <algorithm>
#include <utility>

#include "sokoban/search/search_run.hpp"

/// Extraction of plans from a finished search.
namespace recommit::sokoban {

/// Appends the lexicographically smallest shortest walk around the current boxes; overwrites walk_.
void Search::walk_actions(int from, int to, std::vector<std::uint8_t>& out) {
  walk_from(to);
  while (from != to) {
    int step = 0;
    while (walk_[at(graph_.next(from, step))] != walk_[at(from)] - 1) ++step;
    out.push_back(static_cast<std::uint8_t>(step));
    from = graph_.next(from, step);
  }
}

/// The plan by which the search reached a node.
std::vector<std::uint8_t> Search::plan_to(std::uint32_t node) {
  std::vector<std::uint32_t> chain;
  for (; node != kNil; node = nodes_[node].parent) chain.push_back(node);
  std::vector<std::uint8_t> plan;
  for (std::size_t i = chain.size() - 1; i > 0; --i) {
    const SearchNode &from = nodes_[chain[i]], &to = nodes_[chain[i - 1]];
    load(from.set);
    const int box = static_cast<int>(to.player);  // the player is where the box was
    int action = 0;
    for (bool is_sibling = false; !is_sibling;) {
      const int ahead = graph_.next(box, action);
      if (graph_.is_live(ahead) && occupied_[at(ahead)] == 0) {
        flip(graph_.live_of(box));
        flip(graph_.live_of(ahead));
        is_sibling = std::equal(key_.begin(), key_.end(), sets_.key(to.set));
        flip(graph_.live_of(box));
        flip(graph_.live_of(ahead));
      }
      action += !is_sibling;
    }
    walk_actions(static_cast<int>(from.player), graph_.next(box, action ^ 1), plan);
    plan.push_back(static_cast<std::uint8_t>(action));
  }
  return plan;
}

/// Pushes that may belong to a solution of length best_, in action order. All optimal solutions are sequences of such
/// pushes with shortest walks between them, and no two pushes have the same actions.
std::vector<Search::Move> Search::optimal_moves(std::uint32_t node) {
  std::vector<Move> moves;
  const int player = static_cast<int>(nodes_[node].player), here = static_cast<int>(nodes_[node].actions);
  load(nodes_[node].set);
  walk_from(player);
  for (std::uint32_t i = sets_.first_node(nodes_[node].set); i != kNil; i = nodes_[i].sibling) {
    const SearchNode& other = nodes_[i];
    const bool near = walk_[other.player] != kUnreached;
    if (near && static_cast<int>(other.actions) + walk_[other.player] < here) return moves;  // not a shortest plan
  }
  bound_.set_boxes(boxes_);
  for (std::size_t box = 0; box < boxes_.size(); ++box) {
    const int cell = graph_.cell_of(boxes_[box]);
    for (int action = 0; action < kActions; ++action) {
      const int behind = graph_.next(cell, action ^ 1), ahead = graph_.next(cell, action);
      if (walk_[at(behind)] == kUnreached || occupied_[at(ahead)] != 0 || !graph_.is_live(ahead)) continue;
      const int cost = walk_[at(behind)] + 1;
      if (bound_after_push(box, graph_.live_of(ahead), cell, here + cost) > best_) continue;
      moves.push_back({cell, ahead, behind, action, cost, {}});
    }
  }
  for (Move& move : moves) {
    walk_actions(player, move.behind, move.actions);
    move.actions.push_back(static_cast<std::uint8_t>(move.action));
  }
  std::sort(moves.begin(), moves.end(), [](const Move& a, const Move& b) {
    return std::lexicographical_compare(a.actions.begin(), a.actions.end(), b.actions.begin(), b.actions.end());
  });
  return moves;
}

/// The node after a push; kNil if it is on no optimal solution, kNil - 1 if out of memory.
std::uint32_t Search::follow(std::uint32_t node, const Move& move) {
  load(nodes_[node].set);
  bool dead = false;
  const std::uint32_t set = next_set(move.from, move.to, dead);
  if (dead) return kNil;
  if (set == kNil) return kNil - 1;
  const auto actions = nodes_[node].actions + static_cast<std::uint32_t>(move.cost);
  std::uint32_t same = kNil;
  for (std::uint32_t i = sets_.first_node(set); i != kNil; i = nodes_[i].sibling) {
    if (static_cast<int>(nodes_[i].player) != move.from) continue;
    if (nodes_[i].actions < actions) return kNil;  // reached by fewer actions elsewhere
    if (nodes_[i].actions == actions) same = i;
  }
  if (same != kNil) return nodes_[same].closed ? kNil : same;
  SearchNode fresh{};
  fresh.set = set & (kMostSets - 1);
  fresh.sibling = sets_.first_node(set);
  fresh.player = static_cast<std::uint32_t>(move.from) & 0xFFFU;
  fresh.actions = actions & kMostActions;
  const std::uint32_t id = nodes_.add(fresh);
  if (id == kNil) return kNil - 1;
  sets_.set_first_node(set, id);
  return id;
}

/// Depth-first search in action order through states on solutions of length best_; `closed` now marks nodes without an
/// optimal continuation. Gives up when memory, time or its share of the nodes is exhausted.
bool Search::first_plan(std::vector<std::uint8_t>& plan) {
  struct Frame {
    std::uint32_t node;
    std::size_t next;
    std::vector<Move> moves;
  };
  for (std::uint32_t i = 0; i < nodes_.size(); ++i) nodes_[i].closed = 0;
  least_ = best_;
  slack_ = 0;
  const std::uint64_t allowed = expanded_ + std::min(limits_.nodes - expanded_, 2 * expanded_ + 2000);
  std::vector<Frame> way;
  way.push_back({0, 0, optimal_moves(0)});
  while (!way.empty()) {
    Frame& top = way.back();
    if (top.next == top.moves.size()) {
      nodes_[top.node].closed = 1;
      way.pop_back();
      continue;
    }
    const std::uint32_t node = follow(top.node, top.moves[top.next++]);
    if (node == kNil) continue;
    if (node == kNil - 1 || ++expanded_ > allowed || limit_hit() == End::Time) return false;
    load(nodes_[node].set);
    if (std::all_of(boxes_.begin(), boxes_.end(), [&](int box) { return graph_.is_goal(graph_.cell_of(box)); })) {
      for (const Frame& frame : way) {
        const auto& actions = frame.moves[frame.next - 1].actions;
        plan.insert(plan.end(), actions.begin(), actions.end());
      }
      return true;
    }
    way.push_back({node, 0, optimal_moves(node)});
  }
  return false;
}

}  // namespace recommit::sokoban
