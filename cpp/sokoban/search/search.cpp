// The search loop: expansion, bounds and pruning.
#include "sokoban/search/search.hpp"

#include <algorithm>
#include <bit>

#include "core/rng.hpp"
#include "sokoban/search/search_run.hpp"

namespace recommit::sokoban {

void Search::load(std::uint32_t set) {
  for (const std::uint16_t box : boxes_) occupied_[at(graph_.cell_of(box))] = 0;
  boxes_.clear();
  const std::uint64_t* key = sets_.key(set);
  for (std::size_t w = 0; w < words_; ++w) {
    key_[w] = key[w];
    for (std::uint64_t bits = key[w]; bits != 0; bits &= bits - 1) {
      boxes_.push_back(static_cast<std::uint16_t>(w * 64 + static_cast<std::size_t>(std::countr_zero(bits))));
    }
  }
  for (const std::uint16_t box : boxes_) occupied_[at(graph_.cell_of(box))] = 1;
}

/// Computes exact walking distances around the current boxes.
void Search::walk_from(int player) {
  std::fill(walk_.begin(), walk_.end(), kUnreached);
  std::size_t head = 0, tail = 0;
  walk_[at(player)] = 0;
  queue_[tail++] = static_cast<std::uint16_t>(player);
  while (head < tail) {
    const int here = queue_[head++];
    const auto further = static_cast<std::uint16_t>(walk_[at(here)] + 1);
    for (int action = 0; action < kActions; ++action) {
      const int there = graph_.next(here, action);
      if (occupied_[at(there)] != 0 || walk_[at(there)] != kUnreached) continue;
      walk_[at(there)] = further;
      queue_[tail++] = static_cast<std::uint16_t>(there);
    }
  }
}

/// Lower bound on the remaining actions from the current boxes.
int Search::bound_here(int player) const {
  int least = 0;
  for (std::size_t k = 0; k < bound_.count(); ++k) least = std::max(least, bound_.bound(k, bound_.value(k), player));
  return least;
}

/// Adds better potentials, which take time to find, once a search has run long enough. Nodes stored under weaker ones
/// are re-evaluated when popped.
void Search::improve_bound(std::uint32_t node) {
  constexpr std::uint64_t kEvery = 64;
  if (expanded_ % kEvery == 0) samples_[expanded_ / kEvery % kSamples] = node;
  if (expanded_ < next_climb_ || bound_.count() >= PushBound::kMost) return;
  next_climb_ = 8 * next_climb_ + 1;
  const std::size_t goals = at(graph_.goals()), boxes = start_.boxes.size();
  const std::size_t work = goals * at(graph_.live_cells()) * 8 + kSamples * boxes * boxes * (boxes + 16) / 4;
  const std::size_t tries = std::min<std::size_t>(bound_.count() <= 2 ? 200 : 1000, 100'000'000 / work);
  if (tries < 20 || !memory_.take(PushBound::bytes_for(graph_))) return;
  std::vector<BoundSample> samples;
  for (const std::uint32_t id : samples_) {
    load(nodes_[id].set);
    samples.push_back({boxes_, static_cast<std::uint16_t>(nodes_[id].player)});
  }
  add_climbed(graph_, bound_, samples, static_cast<int>(tries), Rng(bound_.count(), Purpose::Ties, 0));
}

void Search::prepare() {
  const auto cells = at(graph_.cells()) + 1;
  occupied_.assign(cells, 0);
  occupied_.back() = 1;  // wall()
  walk_.resize(cells);
  queue_.resize(cells);
  key_.resize(words_);
}

/// Applies the pruning rules to the start; leaves its key in key_ and its boxes in bound_.
bool Search::start_is_dead(const std::vector<std::uint16_t>& boxes) {
  bound_.add(PushBound::Potential(occupied_.size(), 0));
  constexpr std::size_t kTooMany = 200;  // boxes: a dozen assignments before the search would take too long
  if (options_.walking && boxes.size() < kTooMany) add_best_simple(level_, graph_, bound_, {boxes, start_.player});
  if (!bound_.set_boxes(boxes)) return true;
  for (const std::uint16_t box : boxes) {
    flip(box);
    occupied_[at(graph_.cell_of(box))] = 1;
  }
  const bool dead = options_.freeze && std::any_of(boxes.begin(), boxes.end(), [&](std::uint16_t box) {
                      return freeze_.dead(graph_.cell_of(box), occupied_);
                    });
  for (const std::uint16_t box : boxes) occupied_[at(graph_.cell_of(box))] = 0;
  return dead;
}

bool Search::add_start() {
  const std::uint32_t set = sets_.insert(key_.data());
  if (set == kNil) return false;
  least_ = bound_here(start_.player);
  return add_node(set, start_.player, 0, kNil, least_);
}

/// Adds a node with the player at `player` and these boxes. False if out of memory.
bool Search::add_node(std::uint32_t set, int player, int actions, std::uint32_t parent, int length) {
  for (std::uint32_t i = sets_.first_node(set); i != kNil; i = nodes_[i].sibling) {
    if (static_cast<int>(nodes_[i].player) != player) continue;
    if (static_cast<int>(nodes_[i].actions) <= actions) return true;
    nodes_[i].closed = 1;
  }
  SearchNode node{};
  node.set = set & (kMostSets - 1);
  node.sibling = sets_.first_node(set);
  node.parent = parent;
  node.player = static_cast<std::uint32_t>(player) & 0xFFFU;
  node.actions = static_cast<std::uint32_t>(actions) & kMostActions;
  const std::uint32_t id = actions < static_cast<int>(kMostActions) ? nodes_.add(node) : kNil;
  if (id == kNil) return false;
  sets_.set_first_node(set, id);
  return open_.push(id, at(length));
}

/// Lower bound on the length of solutions with this push next; kNoBound if there are none.
int Search::bound_after_push(std::size_t box, int live_to, int player, int actions) {
  int least = least_;
  for (std::size_t k = 0; k < bound_.count() && slack_ != kAll; ++k) {
    const int value = bound_.exchanged_at_least(k, box, live_to);
    if (value < 0) return kNoBound;
    least = std::max(least, actions + bound_.bound(k, value, player));
  }
  if (least > least_ + slack_) return least;
  int zero = 0;
  for (std::size_t k = 0; k < bound_.count(); ++k) {
    const int value = bound_.exchanged(k, box, live_to);
    if (value < 0) return kNoBound;
    if (k == 0) zero = value;
    least = std::max(least, actions + bound_.bound(k, value, player));
  }
  solved_ = zero == 0;
  return least;
}

void Search::flip(int live) noexcept { key_[at(live / 64)] ^= std::uint64_t{1} << (live % 64); }

/// The box set one push away from the current boxes; kNil if out of memory, or if pruned (sets `dead`).
std::uint32_t Search::next_set(int from, int to, bool& dead) {
  flip(graph_.live_of(from));
  flip(graph_.live_of(to));
  std::uint32_t set = sets_.find(key_.data());
  if (set == kNil) {
    occupied_[at(from)] = 0;
    occupied_[at(to)] = 1;
    dead = options_.freeze && freeze_.dead(to, occupied_);
    occupied_[at(from)] = 1;
    occupied_[at(to)] = 0;
    if (!dead) set = sets_.insert(key_.data());
  }
  flip(graph_.live_of(from));
  flip(graph_.live_of(to));
  return set;
}

/// Makes a push that passed the bound. False if out of memory.
bool Search::push_box(std::uint32_t node, int from, int to, int actions, int length) {
  bool dead = false;
  const std::uint32_t set = next_set(from, to, dead);
  if (dead) return true;
  if (set == kNil || !add_node(set, from, actions, node, length)) return false;
  if (solved_ && actions < best_) {
    best_ = actions;
    best_node_ = nodes_.size() - 1;
  }
  return true;
}

/// True if walking over from another node with these boxes takes no longer; closes nodes that are dominated in turn.
bool Search::dominated(std::uint32_t node) {
  const int actions = static_cast<int>(nodes_[node].actions);
  bool lost = false;
  for (std::uint32_t i = sets_.first_node(nodes_[node].set); i != kNil; i = nodes_[i].sibling) {
    SearchNode& other = nodes_[i];
    if (i == node || walk_[other.player] == kUnreached) continue;
    const int walk = walk_[other.player], there = static_cast<int>(other.actions);
    if (there + walk <= actions && (there < actions || i < node))
      lost = true;
    else if (actions + walk <= there)
      other.closed = 1;
  }
  return lost;
}

/// Checks for corral deadlocks, once per box set and player reach; a set's tag stores the reach that passed last.
bool Search::corral_dead(std::uint32_t node) {
  const std::uint32_t set = nodes_[node].set;
  std::uint32_t reach = 1;
  while (walk_[reach - 1] == kUnreached) ++reach;
  if (sets_.tag(set) == reach) return false;
  cells_.clear();
  for (const std::uint16_t box : boxes_) cells_.push_back(static_cast<std::uint16_t>(graph_.cell_of(box)));
  const bool dead = corral_.dead(cells_, occupied_, walk_, static_cast<int>(nodes_[node].player));
  ++trials_;
  trials_won_ += dead;
  if (trials_ % 4096 == 0 && trials_won_ * 32 < trials_) corrals_after_ = expanded_ * 4;  // does not pay here
  if (!dead) sets_.set_tag(set, reach);
  return dead;
}

/// True if this push leads to a known node with no more actions.
bool Search::is_repeat(int from, int to, int actions) {
  flip(graph_.live_of(from));
  flip(graph_.live_of(to));
  const std::uint32_t set = sets_.find(key_.data());
  flip(graph_.live_of(from));
  flip(graph_.live_of(to));
  if (set == kNil) return false;
  for (std::uint32_t i = sets_.first_node(set); i != kNil; i = nodes_[i].sibling) {
    if (static_cast<int>(nodes_[i].player) == from && static_cast<int>(nodes_[i].actions) <= actions) return true;
  }
  return false;
}

/// Makes the pushes that can belong to a solution of length least_; the node is re-queued for those of longer ones.
/// False if out of memory.
bool Search::expand(std::uint32_t node) {
  const int player = static_cast<int>(nodes_[node].player), here = static_cast<int>(nodes_[node].actions);
  load(nodes_[node].set);
  walk_from(player);
  if (options_.dominance && dominated(node)) return true;
  ++expanded_;
  if (options_.corrals && expanded_ > corrals_after_ && corral_dead(node)) return true;
  bound_.set_boxes(boxes_);
  int next = here + bound_here(player);
  if (next > least_) return reopen(node, next);
  next = kNoBound;
  const bool eager = slack_ == kAll;
  for (std::size_t box = 0; box < boxes_.size(); ++box) {
    const int cell = graph_.cell_of(boxes_[box]);
    for (int action = 0; action < kActions; ++action) {
      const int behind = graph_.next(cell, action ^ 1), ahead = graph_.next(cell, action);
      if (walk_[at(behind)] == kUnreached || occupied_[at(ahead)] != 0 || !graph_.is_live(ahead)) continue;
      if (!graph_.side_lives(graph_.live_of(ahead), action ^ 1)) continue;
      const int actions = here + walk_[at(behind)] + 1;
      if (eager && is_repeat(cell, ahead, actions)) continue;
      const int length = bound_after_push(box, graph_.live_of(ahead), cell, actions);
      if (length > least_ + slack_) {
        next = std::min(next, length);
      } else {
        if (!push_box(node, cell, ahead, actions, length)) return false;
      }
    }
  }
  return next == kNoBound || reopen(node, next);
}

bool Search::reopen(std::uint32_t node, int bound) {
  nodes_[node].closed = 0;
  return open_.push(node, at(bound));
}

/// Expansions between clock checks: an expansion is more expensive with more boxes.
std::size_t Search::patience() const noexcept {
  return start_.boxes.size() > 64 ? 1 : start_.boxes.size() > 16 ? 32 : 256;
}

Search::End Search::limit_hit() {
  if (expanded_ >= limits_.nodes) return End::Nodes;
  if (expanded_ % patience() != 0) return End::Open;
  if (watch_ != nullptr) watch_->poll();
  if (std::chrono::duration<double>(Clock::now() - started_).count() > limits_.seconds) return End::Time;
  return End::Open;
}

Search::End Search::loop() {
  for (;;) {
    const std::uint32_t node = open_.pop();
    if (node == kNil) return best_ == kNoBound ? End::Exhausted : End::Solved;
    least_ = std::max(least_, static_cast<int>(open_.bound()));
    if (least_ >= best_) return End::Solved;
    if (nodes_[node].closed) continue;
    const End end = limit_hit();
    if (end != End::Open) return end;
    if (options_.walking) improve_bound(node);
    nodes_[node].closed = 1;
    if (!expand(node)) return End::Bytes;
    if (nodes_.size() > options_.eager_nodes) slack_ = kSlack;
  }
}

SearchResult Search::run() {
  SearchResult result;
  prepare();
  std::vector<std::uint16_t> boxes;
  bool solved = true, dead = at(graph_.goals()) < start_.boxes.size();
  for (const std::uint16_t cell : start_.boxes) {
    solved &= graph_.is_goal(cell);
    if (graph_.is_live(cell))
      boxes.push_back(static_cast<std::uint16_t>(graph_.live_of(cell)));
    else
      dead = true;
  }
  if (solved) {
    result.length = 0;
    result.plan_is_first = true;
    return result;
  }
  End end = dead || start_is_dead(boxes) ? End::Exhausted : add_start() ? loop() : End::Bytes;
  result.nodes = expanded_;
  result.bytes = memory_.used();
  result.lower_bound = std::max(least_, 1);
  switch (end) {
    case End::Open:
    case End::Solved:
      result.length = result.lower_bound = best_;
      result.plan_is_first = options_.first && first_plan(result.plan);
      if (!result.plan_is_first) result.plan = plan_to(best_node_);
      break;
    case End::Exhausted:
      result.status = Status::Unsolvable;
      result.length = kUnsolvable;
      break;
    case End::Nodes: result.status = Status::NodeLimit; break;
    case End::Bytes: result.status = Status::ByteLimit; break;
    case End::Time: result.status = Status::TimeLimit; break;
  }
  return result;
}

std::uint64_t Search::bytes_for(const Level& level, std::size_t boxes) noexcept {
  const auto cells = static_cast<std::uint64_t>(level.cells()) + 1,
             live = static_cast<std::uint64_t>(level.live_cells());
  const auto goals = static_cast<std::uint64_t>(level.goals());
  const std::uint64_t bound = live * (goals + 2) * 2 + cells * 2 + Assignment::bytes_for(goals);
  constexpr std::uint64_t kBoundsAtOnce = 3;  // pushes, one potential, one candidate
  return PushGraph::bytes_for(level) + kBoundsAtOnce * bound + cells * 40 + boxes * 16 + sizeof(Search);
}

SearchResult search(const Level& level, const State& state, const Limits& limits, const SearchOptions& options,
                    Watch* watch) {
  const std::uint64_t fixed = Search::bytes_for(level, state.boxes.size());
  if (fixed > limits.bytes) {
    SearchResult result;
    result.status = Status::ByteLimit;
    return result;
  }
  Limits rest = limits;
  rest.bytes -= fixed;
  SearchResult result = Search(level, state, rest, options, watch).run();
  result.bytes += fixed;
  return result;
}

}  // namespace recommit::sokoban
