#include "sokoban/search.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <limits>
#include <cstdio>
#include <cstdlib>

#include "core/rng.hpp"
#include "sokoban/freeze.hpp"
#include "sokoban/potentials.hpp"
#include "sokoban/push_bound.hpp"
#include "sokoban/push_graph.hpp"
#include "sokoban/search_store.hpp"

namespace recommit::sokoban {
namespace {

constexpr std::uint16_t kUnreached = 0xFFFF;
const std::uint32_t kEager = getenv("EAGER") ? atoi(getenv("EAGER")) : 100000;
const int kSlack = getenv("SLACK") ? atoi(getenv("SLACK")) : 0;
constexpr int kNoBound = std::numeric_limits<int>::max();

/// Why the main loop ended.
enum class End { Open, Solved, Exhausted, Nodes, Bytes, Time };

class Search {
 public:
  Search(const Level& level, const State& start, const Limits& limits, const SearchOptions& options, Watch* watch)
      : level_(level), limits_(limits),
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
        sets_(words_, budget_) {}

  SearchResult run();

 private:
  using Clock = std::chrono::steady_clock;
  static std::size_t at(int i) noexcept { return static_cast<std::size_t>(i); }

  bool prepare();
  void improve_bound(std::uint32_t node);
  bool add_start();
  End loop();
  End spent();
  bool expand(std::uint32_t node);
  bool push_box(std::uint32_t node, int from, int to, int actions, int length);
  bool wait(std::uint32_t node, int bound);
  int through(std::size_t box, int live_to, int player, int actions);
  void flip(int live) noexcept;
  bool arrive(std::uint32_t set, int player, int actions, std::uint32_t parent, int length);
  int bound_here(int player) const;
  void load(std::uint32_t set);
  void walk_from(int player);
  bool dominated(std::uint32_t node);
  std::vector<std::uint8_t> plan_to(std::uint32_t node);

  const Level& level_;
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

  static constexpr std::size_t kSamples = 16;
  std::array<std::uint32_t, kSamples> samples_{};  // nodes, the start to begin with
  std::uint64_t next_climb_ = getenv("CLIMB")?atoi(getenv("CLIMB")):2000;
  std::uint64_t expanded_ = 0;
  int slack_ = kNoBound / 2;  // successors up to this much beyond least_ are stored
  int least_ = 0;            // proven lower bound on the whole solution
  int best_ = kNoBound;      // actions of the best solution so far
  std::uint32_t best_node_ = kNil;
  // Of the node in hand:
  std::vector<std::uint16_t> boxes_;  // live numbers
  std::vector<std::uint8_t> occupied_;
  std::vector<std::uint16_t> walk_, queue_;
  std::vector<std::uint64_t> key_;
  bool unsolvable_ = false, solved_ = false;
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

/// Lower bound on the actions left from the boxes in hand.
int Search::bound_here(int player) const {
  int least = 0;
  for (std::size_t k = 0; k < bound_.count(); ++k) least = std::max(least, bound_.bound(k, bound_.value(k), player));
  return least;
}

/// Better potentials cost time to find, so a search earns them by its length. What was stored under weaker ones is
/// judged anew when its turn comes.
void Search::improve_bound(std::uint32_t node) {
  constexpr std::uint64_t kEvery = 64;
  if (expanded_ % kEvery == 0) samples_[expanded_ / kEvery % kSamples] = node;
  if (expanded_ < next_climb_ || bound_.count() >= PushBound::kMost) return;
  next_climb_ *= 8;
  if (!budget_.take(PushBound::bytes_for(graph_))) return;
  std::vector<BoundSample> samples;
  for (const std::uint32_t id : samples_) {
    load(nodes_[id].set);
    samples.push_back({boxes_, static_cast<std::uint16_t>(nodes_[id].player)});
  }
  const int tries = bound_.count() <= 2 ? 200 : 1000;
  add_climbed(graph_, bound_, samples, tries, Rng(bound_.count(), Purpose::Ties, 0));
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
  bound_.add(PushBound::Potential(cells, 0));
  if (options_.walking) add_best_simple(level_, graph_, bound_, {boxes, start_.player});
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
  least_ = bound_here(start_.player);
  return arrive(set, start_.player, 0, kNil, least_);
}

/// The player has come to stand at `player` with these boxes. False if out of memory.
bool Search::arrive(std::uint32_t set, int player, int actions, std::uint32_t parent, int length) {
  for (std::uint32_t i = sets_.first_node(set); i != kNil; i = nodes_[i].sibling) {
    if (static_cast<int>(nodes_[i].player) != player) continue;
    if (static_cast<int>(nodes_[i].actions) <= actions) return true;
    nodes_[i].closed = 1;
  }
  SearchNode node{};
  node.set = set & 0x7FFFFFFFU;
  node.sibling = sets_.first_node(set);
  node.parent = parent;
  node.player = static_cast<std::uint32_t>(player) & 0xFFFU;
  node.actions = static_cast<std::uint32_t>(actions) & kMostActions;
  const std::uint32_t id = nodes_.add(node);
  if (id == kNil) return false;
  sets_.set_first_node(set, id);
  return open_.push(id, at(length));
}

/// Least length of any solution that makes this push now, by the bound; kNoBound if there is none.
int Search::through(std::size_t box, int live_to, int player, int actions) {
  int least = least_;
  for (std::size_t k = 0; k < bound_.count(); ++k) {
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

/// A push that the bound lets through. False if out of memory.
bool Search::push_box(std::uint32_t node, int from, int to, int actions, int length) {
  flip(graph_.live_of(from));
  flip(graph_.live_of(to));
  std::uint32_t set = sets_.find(key_.data());
  bool dead = false;
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
  if (dead) return true;
  if (set == kNil || !arrive(set, from, actions, node, length)) return false;
  if (solved_ && actions < best_) {
    best_ = actions;
    best_node_ = nodes_.size() - 1;
  }
  return true;
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

/// Makes the pushes that can belong to a solution of length least_; the node waits again for those that may belong
/// to longer ones. False if out of memory.
bool Search::expand(std::uint32_t node) {
  const int player = static_cast<int>(nodes_[node].player), here = static_cast<int>(nodes_[node].actions);
  load(nodes_[node].set);
  walk_from(player);
  if (options_.dominance && dominated(node)) return true;
  ++expanded_;
  bound_.set_boxes(boxes_);
  int next = here + bound_here(player);
  if (next > least_) return wait(node, next);
  next = kNoBound;
  for (std::size_t box = 0; box < boxes_.size(); ++box) {
    const int cell = graph_.cell_of(boxes_[box]);
    for (int action = 0; action < kActions; ++action) {
      const int behind = graph_.next(cell, action ^ 1), ahead = graph_.next(cell, action);
      if (walk_[at(behind)] == kUnreached || occupied_[at(ahead)] != 0 || !graph_.is_live(ahead)) continue;
      if (!graph_.side_lives(graph_.live_of(ahead), action ^ 1)) continue;
      const int actions = here + walk_[at(behind)] + 1;
      const int length = through(box, graph_.live_of(ahead), cell, actions);
      if (length > least_ + slack_) {
        next = std::min(next, length);
      } else {
        if (!push_box(node, cell, ahead, actions, length)) return false;
      }
    }
  }
  return next == kNoBound || wait(node, next);
}

bool Search::wait(std::uint32_t node, int bound) {
  nodes_[node].closed = 0;
  return open_.push(node, at(bound));
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
    if (node == kNil) return best_ == kNoBound ? End::Exhausted : End::Solved;
    least_ = std::max(least_, static_cast<int>(open_.bound()));
    if (least_ >= best_) return End::Solved;
    if (nodes_[node].closed) continue;
    const End end = spent();
    if (end != End::Open) return end;
    if (options_.walking) improve_bound(node);
    nodes_[node].closed = 1;
    if (!expand(node)) return End::Bytes;
    if (nodes_.size() > kEager) slack_ = kSlack;
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
