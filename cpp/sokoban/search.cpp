#include "sokoban/search.hpp"

#include <algorithm>
#include <bit>
#include <chrono>
#include <limits>

#include "core/rng.hpp"
#include "sokoban/freeze.hpp"
#include "sokoban/push_bound.hpp"
#include "sokoban/push_graph.hpp"
#include "sokoban/search_store.hpp"

namespace recommit::sokoban {
namespace {

constexpr std::uint16_t kUnreached = 0xFFFF;
constexpr int kNoBound = std::numeric_limits<int>::max();

/// Why the main loop ended.
enum class End { Open, Solved, Exhausted, Nodes, Bytes, Time };

class Search {
 public:
  Search(const Level& level, const State& start, const Limits& limits, const SearchOptions& options, Watch* watch)
      : limits_(limits),
        options_(options),
        watch_(watch),
        budget_(limits.bytes),
        started_(Clock::now()),
        graph_(level, options.sides),
        bound_(graph_, start.boxes.size(), options.assignment),
        freeze_(graph_),
        start_(start),
        words_((static_cast<std::size_t>(graph_.live_cells()) + 63) / 64),
        nodes_(budget_),
        open_(nodes_, budget_),
        sets_(words_, PushBound::kMost, budget_) {}

  SearchResult run();

 private:
  using Clock = std::chrono::steady_clock;
  static std::size_t at(int i) noexcept { return static_cast<std::size_t>(i); }

  bool prepare();
  void choose_potentials();
  bool add_start();
  End loop();
  End spent();
  bool expand(std::uint32_t node);
  bool push_box(std::uint32_t node, std::size_t box, int action, int actions);
  bool arrive(std::uint32_t set, int player, int actions, std::uint32_t parent);
  std::uint32_t new_set(std::size_t box, int from, int to);
  int bound_of(std::uint32_t set, int player);
  void load(std::uint32_t set);
  void walk_from(int player);
  bool dominated(std::uint32_t node);
  std::vector<std::uint8_t> plan_to(std::uint32_t node);

  const Limits& limits_;
  const SearchOptions& options_;
  Watch* watch_;
  Budget budget_;
  Clock::time_point started_;
  PushGraph graph_;
  PushBound bound_;
  Freeze freeze_;
  const State& start_;
  std::size_t words_;
  NodeStore nodes_;
  OpenList open_;
  SetStore sets_;

  std::uint64_t expanded_ = 0;
  int least_ = 0;            // proven lower bound on the whole solution
  int best_ = kNoBound;      // actions of the best solution so far
  std::uint32_t best_node_ = kNil;
  // Of the node in hand:
  std::vector<std::uint16_t> boxes_;  // live numbers
  std::vector<std::uint8_t> occupied_;
  std::vector<std::uint16_t> walk_, queue_;
  std::vector<std::uint64_t> key_;
  bool bound_ready_ = false, unsolvable_ = false;
};

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
  bound_ready_ = false;
}

/// Exact walking distances around the boxes in hand.
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

int Search::bound_of(std::uint32_t set, int player) {
  int least = 0;
  for (std::size_t k = 0; k < bound_.count(); ++k) {
    least = std::max(least, bound_.bound(k, sets_.value(set, k), player));
  }
  return least;
}

/// Steps of one action change a potential by at most 1 in these, by construction.
void Search::choose_potentials() {
  const auto cells = at(graph_.cells()) + 1;
  bound_.add(PushBound::Potential(cells, 0));
}

bool Search::prepare() {
  const auto cells = at(graph_.cells()) + 1;
  occupied_.assign(cells, 0);
  occupied_.back() = 1;  // wall()
  walk_.resize(cells);
  queue_.resize(cells);
  key_.resize(words_);
  std::vector<std::uint16_t> boxes;
  if (at(graph_.goals()) < start_.boxes.size()) unsolvable_ = true;
  for (const std::uint16_t cell : start_.boxes) {
    if (!graph_.is_live(cell)) unsolvable_ = true;
    else boxes.push_back(static_cast<std::uint16_t>(graph_.live_of(cell)));
  }
  if (unsolvable_) return true;
  choose_potentials();
  if (!bound_.set_boxes(boxes)) {
    unsolvable_ = true;
    return true;
  }
  for (const std::uint16_t box : boxes) {
    key_[box / 64] |= std::uint64_t{1} << (box % 64);
    occupied_[at(graph_.cell_of(box))] = 1;
  }
  for (const std::uint16_t box : boxes) {
    if (options_.freeze && freeze_.dead(graph_.cell_of(box), occupied_)) unsolvable_ = true;
  }
  for (const std::uint16_t box : boxes) occupied_[at(graph_.cell_of(box))] = 0;
  return unsolvable_ || add_start();
}

bool Search::add_start() {
  const std::uint32_t set = sets_.insert(key_.data());
  if (set == kNil) return false;
  for (std::size_t k = 0; k < bound_.count(); ++k) sets_.set_value(set, k, bound_.value(k));
  return arrive(set, start_.player, 0, kNil);
}

/// A box set not seen before, one push away from the boxes in hand. kNil if dead or (unsolvable_ unset) out of memory.
std::uint32_t Search::new_set(std::size_t box, int from, int to) {
  if (options_.freeze) {
    occupied_[at(from)] = 0;
    occupied_[at(to)] = 1;
    const bool dead = freeze_.dead(to, occupied_);
    occupied_[at(from)] = 1;
    occupied_[at(to)] = 0;
    if (dead) return kNil - 1;
  }
  if (!bound_ready_) {
    bound_.set_boxes(boxes_);
    bound_ready_ = true;
  }
  int values[PushBound::kMost];
  for (std::size_t k = 0; k < bound_.count(); ++k) {
    values[k] = bound_.exchanged(k, box, graph_.live_of(to));
    if (values[k] < 0) return kNil - 1;
  }
  const std::uint32_t set = sets_.insert(key_.data());
  if (set == kNil) return kNil;
  for (std::size_t k = 0; k < bound_.count(); ++k) sets_.set_value(set, k, values[k]);
  return set;
}

/// The player has come to stand at `player` with these boxes. False if out of memory.
bool Search::arrive(std::uint32_t set, int player, int actions, std::uint32_t parent) {
  for (std::uint32_t i = sets_.first_node(set); i != kNil; i = nodes_[i].sibling) {
    if (static_cast<int>(nodes_[i].player) != player) continue;
    if (static_cast<int>(nodes_[i].actions) <= actions) return true;
    nodes_[i].closed = 1;
  }
  const int total = std::max(least_, actions + bound_of(set, player));
  if (total >= best_) return true;
  SearchNode node{};
  node.set = set & 0x7FFFFFFFU;
  node.sibling = sets_.first_node(set);
  node.parent = parent;
  node.player = static_cast<std::uint32_t>(player) & 0xFFFU;
  node.actions = static_cast<std::uint32_t>(actions) & kMostActions;
  const std::uint32_t id = nodes_.add(node);
  if (id == kNil) return false;
  sets_.set_first_node(set, id);
  if (sets_.value(set, 0) == 0) {
    best_ = actions;
    best_node_ = id;
  }
  return open_.push(id, at(total));
}

bool Search::push_box(std::uint32_t node, std::size_t box, int action, int actions) {
  const int from = graph_.cell_of(boxes_[box]), to = graph_.next(from, action);
  const int live_from = boxes_[box], live_to = graph_.live_of(to);
  if (!graph_.side_lives(live_to, action ^ 1)) return true;
  key_[at(live_from / 64)] ^= std::uint64_t{1} << (live_from % 64);
  key_[at(live_to / 64)] ^= std::uint64_t{1} << (live_to % 64);
  std::uint32_t set = sets_.find(key_.data());
  if (set == kNil) set = new_set(box, from, to);
  key_[at(live_from / 64)] ^= std::uint64_t{1} << (live_from % 64);
  key_[at(live_to / 64)] ^= std::uint64_t{1} << (live_to % 64);
  if (set == kNil) return false;
  return set == kNil - 1 || arrive(set, from, actions, node);
}

/// Whether walking over from another way to arrive with these boxes is no longer; closes ways that are so themselves.
bool Search::dominated(std::uint32_t node) {
  const int actions = static_cast<int>(nodes_[node].actions);
  bool lost = false;
  for (std::uint32_t i = sets_.first_node(nodes_[node].set); i != kNil; i = nodes_[i].sibling) {
    SearchNode& other = nodes_[i];
    if (i == node || walk_[other.player] == kUnreached) continue;
    const int walk = walk_[other.player], there = static_cast<int>(other.actions);
    if (there + walk <= actions && (there < actions || i < node)) lost = true;
    else if (actions + walk <= there) other.closed = 1;
  }
  return lost;
}

bool Search::expand(std::uint32_t node) {
  const std::uint32_t set = nodes_[node].set;
  load(set);
  walk_from(static_cast<int>(nodes_[node].player));
  if (options_.dominance && dominated(node)) return true;
  ++expanded_;
  for (std::size_t box = 0; box < boxes_.size(); ++box) {
    const int cell = graph_.cell_of(boxes_[box]);
    for (int action = 0; action < kActions; ++action) {
      const int behind = graph_.next(cell, action ^ 1), ahead = graph_.next(cell, action);
      if (walk_[at(behind)] == kUnreached || occupied_[at(ahead)] != 0 || !graph_.is_live(ahead)) continue;
      const int actions = static_cast<int>(nodes_[node].actions) + walk_[at(behind)] + 1;
      if (!push_box(node, box, action, actions)) return false;
    }
  }
  return true;
}

End Search::spent() {
  if (expanded_ >= limits_.nodes) return End::Nodes;
  if ((expanded_ & 0xFF) != 0) return End::Open;
  if (watch_ != nullptr && (expanded_ & 0x7FF) == 0) watch_->poll();
  if (std::chrono::duration<double>(Clock::now() - started_).count() > limits_.seconds) return End::Time;
  return End::Open;
}

End Search::loop() {
  for (;;) {
    const std::uint32_t node = open_.pop();
    if (node == kNil) return best_ != kNoBound ? End::Solved : End::Exhausted;
    least_ = std::max(least_, static_cast<int>(open_.bound()));
    if (least_ >= best_) return End::Solved;
    if (nodes_[node].closed) continue;
    const End end = spent();
    if (end != End::Open) return end;
    nodes_[node].closed = 1;
    if (!expand(node)) return End::Bytes;
  }
}

std::vector<std::uint8_t> Search::plan_to(std::uint32_t node) {
  std::vector<std::uint32_t> chain;
  for (; node != kNil; node = nodes_[node].parent) chain.push_back(node);
  std::vector<std::uint8_t> plan;
  for (std::size_t i = chain.size() - 1; i > 0; --i) {
    const SearchNode& from = nodes_[chain[i]];
    const SearchNode& to = nodes_[chain[i - 1]];
    load(from.set);
    const int box = static_cast<int>(to.player);  // the player stands where the box was
    int action = 0;
    for (; action < kActions; ++action) {
      const int ahead = graph_.next(box, action);
      if (!graph_.is_live(ahead) || occupied_[at(ahead)] != 0) continue;
      const int live = graph_.live_of(ahead), live_box = graph_.live_of(box);
      key_[at(live_box / 64)] ^= std::uint64_t{1} << (live_box % 64);
      key_[at(live / 64)] ^= std::uint64_t{1} << (live % 64);
      const bool same = std::equal(key_.begin(), key_.end(), sets_.key(to.set));
      key_[at(live_box / 64)] ^= std::uint64_t{1} << (live_box % 64);
      key_[at(live / 64)] ^= std::uint64_t{1} << (live % 64);
      if (same) break;
    }
    int here = static_cast<int>(from.player);
    walk_from(graph_.next(box, action ^ 1));
    while (walk_[at(here)] != 0) {
      int step = 0;
      while (walk_[at(graph_.next(here, step))] != walk_[at(here)] - 1) ++step;
      plan.push_back(static_cast<std::uint8_t>(step));
      here = graph_.next(here, step);
    }
    plan.push_back(static_cast<std::uint8_t>(action));
  }
  return plan;
}

SearchResult Search::run() {
  SearchResult result;
  End end = prepare() ? End::Open : End::Bytes;
  if (unsolvable_) end = End::Exhausted;
  if (end == End::Open) end = loop();
  result.nodes = expanded_;
  result.bytes = budget_.used();
  result.lower_bound = least_;
  switch (end) {
    case End::Solved:
    case End::Open:
      result.length = result.lower_bound = best_;
      result.plan = plan_to(best_node_);
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

}  // namespace

SearchResult search(const Level& level, const State& state, const Limits& limits, const SearchOptions& options,
                    Watch* watch) {
  return Search(level, state, limits, options, watch).run();
}

}  // namespace recommit::sokoban
