// Storage of a search, within its memory limit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace recommit::sokoban {

/// Remaining memory of a search, checked before every allocation.
class MemoryLimit {
 public:
  explicit MemoryLimit(std::uint64_t limit) noexcept : left_(limit), limit_(limit) {}
  bool take(std::uint64_t bytes) noexcept {
    if (bytes > left_) return false;
    left_ -= bytes;
    return true;
  }
  void give_back(std::uint64_t bytes) noexcept { left_ += bytes; }
  std::uint64_t used() const noexcept { return limit_ - left_; }

 private:
  std::uint64_t left_, limit_;
};

inline constexpr std::uint32_t kNil = 0xFFFFFFFFU;
inline constexpr std::uint32_t kMostSets = 1U << 31;  ///< nodes store set ids in 31 bits

/// A search node: the boxes of `set`, the player, and the number of actions. 20 bytes.
struct SearchNode {
  std::uint32_t set : 31;
  std::uint32_t closed : 1;  ///< expanded or dominated
  std::uint32_t sibling;     ///< next node with the same boxes
  std::uint32_t parent;
  std::uint32_t link;  ///< next in the bucket of the open list
  std::uint32_t player : 12;
  std::uint32_t actions : 20;
};
static_assert(sizeof(SearchNode) == 20);
inline constexpr std::uint32_t kMostActions = (1U << 20) - 1;

/// Records of `stride` words in blocks with stable addresses.
class Blocks {
 public:
  Blocks(std::size_t stride, MemoryLimit& memory) noexcept : stride_(stride), memory_(memory) {}
  std::uint32_t size() const noexcept { return size_; }
  std::uint64_t* operator[](std::uint32_t i) noexcept { return blocks_[i >> kShift].get() + (i & kMask) * stride_; }
  bool grow();  ///< adds an uninitialised record; false at the memory limit or kMostSets

 private:
  static constexpr std::uint32_t kShift = 12, kMask = (1U << kShift) - 1;
  std::size_t stride_;
  MemoryLimit& memory_;
  std::uint32_t size_ = 0;
  std::vector<std::unique_ptr<std::uint64_t[]>> blocks_;
};

/// Exact storage of distinct box sets: a bitmap of live cells each, with the first of its nodes and a tag for the
/// search. Ids are stable. Not thread-safe.
class SetStore {
 public:
  SetStore(std::size_t key_words, MemoryLimit& memory);
  SetStore(const SetStore&) = delete;
  SetStore& operator=(const SetStore&) = delete;

  std::uint32_t find(const std::uint64_t* key) const noexcept;  ///< kNil if unknown
  std::uint32_t insert(const std::uint64_t* key);               ///< key must be new; kNil if out of memory
  std::uint32_t size() const noexcept { return records_.size(); }

  const std::uint64_t* key(std::uint32_t set) noexcept { return records_[set]; }
  std::uint32_t first_node(std::uint32_t set) noexcept { return static_cast<std::uint32_t>(head(set)); }
  void set_first_node(std::uint32_t set, std::uint32_t node) noexcept {
    head(set) = (head(set) & ~std::uint64_t{kNil}) | node;
  }
  std::uint32_t tag(std::uint32_t set) noexcept { return static_cast<std::uint32_t>(head(set) >> 32); }
  void set_tag(std::uint32_t set, std::uint32_t tag) noexcept {
    head(set) = (head(set) & kNil) | std::uint64_t{tag} << 32;
  }

 private:
  struct Slot {
    std::uint32_t set, check;
  };
  std::uint64_t& head(std::uint32_t set) noexcept { return records_[set][key_words_]; }
  std::uint64_t hash(const std::uint64_t* key) const noexcept;
  bool make_room();

  std::size_t key_words_;
  MemoryLimit& memory_;
  mutable Blocks records_;
  std::vector<Slot> slots_;
};

/// Nodes in blocks with stable addresses.
class NodeStore {
 public:
  explicit NodeStore(MemoryLimit& memory) noexcept : memory_(memory) {}
  SearchNode& operator[](std::uint32_t i) noexcept { return blocks_[i >> kShift][i & kMask]; }
  std::uint32_t size() const noexcept { return size_; }
  std::uint32_t add(const SearchNode& node);  ///< kNil if out of memory

 private:
  static constexpr std::uint32_t kShift = 12, kMask = (1U << kShift) - 1;
  MemoryLimit& memory_;
  std::uint32_t size_ = 0;
  std::vector<std::unique_ptr<SearchNode[]>> blocks_;
};

/// Priority queue of nodes by their bound on the whole solution, smallest first, with ties broken by the newest.
class OpenList {
 public:
  OpenList(NodeStore& nodes, MemoryLimit& memory) noexcept : nodes_(nodes), memory_(memory) {}
  bool push(std::uint32_t node, std::size_t bound);      ///< false if out of memory
  std::uint32_t pop();                                   ///< kNil if empty
  std::size_t bound() const noexcept { return bound_; }  ///< of the last popped node

 private:
  NodeStore& nodes_;
  MemoryLimit& memory_;
  std::size_t bound_ = 0;
  std::vector<std::uint32_t> buckets_;
};

}  // namespace recommit::sokoban
