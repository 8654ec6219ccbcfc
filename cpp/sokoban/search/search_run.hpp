// The state of one search.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "sokoban/search/deadlock_corral.hpp"
#include "sokoban/search/deadlock_freeze.hpp"
#include "sokoban/search/potentials.hpp"
#include "sokoban/search/push_bound.hpp"
#include "sokoban/search/push_graph.hpp"
#include "sokoban/search/search.hpp"
#include "sokoban/search/search_store.hpp"

namespace recommit::sokoban {

inline constexpr std::uint16_t kUnreached = 0xFFFF;
inline constexpr int kNoBound = std::numeric_limits<int>::max();

/// One search from one state, the implementation of search(). Single use, single thread.
class Search {
 public:
  Search(const Level& level, const State& start, const Limits& limits, const SearchOptions& options, Watch* watch)
      : level_(level),
        limits_(limits),
        options_(options),
        watch_(watch),
        memory_(limits.bytes),
        started_(Clock::now()),
        graph_(level, options.sides),
        bound_(graph_, start.boxes.size(), options.assignment),
        freeze_(graph_),
        corral_(graph_),
        start_(start),
        words_((static_cast<std::size_t>(graph_.live_cells()) + 63) / 64),
        nodes_(memory_),
        open_(nodes_, memory_),
        sets_(words_, memory_) {}

  SearchResult run();

  /// Bytes of a search before its first node.
  static std::uint64_t bytes_for(const Level& level, std::size_t boxes) noexcept;

 private:
  using Clock = std::chrono::steady_clock;

  enum class End { Open, Solved, Exhausted, Nodes, Bytes, Time };
  struct Move {
    int from, to, behind, action, cost;
    std::vector<std::uint8_t> actions;  // the walk and the push
  };

  void prepare();
  void improve_bound(std::uint32_t node);
  bool start_is_dead(const std::vector<std::uint16_t>& boxes);
  bool add_start();
  End loop();
  End limit_hit();
  bool expand(std::uint32_t node);
  bool push_box(std::uint32_t node, int from, int to, int actions, int length);
  bool is_repeat(int from, int to, int actions);
  bool reopen(std::uint32_t node, int bound);
  int bound_after_push(std::size_t box, int live_to, int player, int actions);
  void flip(int live) noexcept;
  bool add_node(std::uint32_t set, int player, int actions, std::uint32_t parent, int length);
  int bound_here(int player) const;
  void load(std::uint32_t set);
  void walk_from(int player);
  bool dominated(std::uint32_t node);
  bool corral_dead(std::uint32_t node);
  std::uint32_t next_set(int from, int to, bool& dead);
  std::size_t patience() const noexcept;

  // search_plan.cpp
  void walk_actions(int from, int to, std::vector<std::uint8_t>& out);
  std::vector<std::uint8_t> plan_to(std::uint32_t node);
  std::vector<Move> optimal_moves(std::uint32_t node);
  std::uint32_t follow(std::uint32_t node, const Move& move);
  bool first_plan(std::vector<std::uint8_t>& plan);

  const Level& level_;
  const Limits& limits_;
  const SearchOptions& options_;
  Watch* watch_;
  MemoryLimit memory_;
  Clock::time_point started_;
  PushGraph graph_;
  PushBound bound_;
  Freeze freeze_;
  Corral corral_;
  const State& start_;
  std::size_t words_;
  NodeStore nodes_;
  OpenList open_;
  SetStore sets_;

  static constexpr std::size_t kSamples = 16;
  static constexpr int kSlack = 1, kAll = kNoBound / 2;
  std::array<std::uint32_t, kSamples> samples_{};  // nodes, initially the start
  std::uint64_t next_climb_ = options_.climb_after;
  std::uint64_t corrals_after_ = options_.corrals_after;
  std::uint64_t trials_ = 0, trials_won_ = 0;
  std::uint64_t expanded_ = 0;
  int slack_ = kAll;     // successors up to this much beyond least_ are stored
  int least_ = 0;        // proven lower bound on the whole solution
  int best_ = kNoBound;  // actions of the best solution so far
  std::uint32_t best_node_ = kNil;
  // Of the current node:
  std::vector<std::uint16_t> boxes_;  // live numbers
  std::vector<std::uint8_t> occupied_;
  std::vector<std::uint16_t> walk_, queue_;
  std::vector<std::uint64_t> key_;
  std::vector<std::uint16_t> cells_;
  bool solved_ = false;
};

}  // namespace recommit::sokoban
