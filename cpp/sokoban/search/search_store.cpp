// Storage of a search's box sets and nodes.
#include "sokoban/search/search_store.hpp"

#include <algorithm>
#include <cstring>

#include "core/rng.hpp"

namespace recommit::sokoban {

bool Blocks::grow() {
  if ((size_ & kMask) == 0) {
    const std::size_t words = (std::size_t{1} << kShift) * stride_;
    static_assert(kMostSets % (kMask + 1) == 0 && kMostSets <= kNil);
    if (size_ >= kMostSets || !memory_.take(words * 8 + sizeof(void*) * 2)) return false;
    blocks_.push_back(std::make_unique_for_overwrite<std::uint64_t[]>(words));
  }
  ++size_;
  return true;
}

SetStore::SetStore(std::size_t key_words, MemoryLimit& memory)
    : key_words_(key_words), memory_(memory), records_(key_words + 1, memory) {}

std::uint64_t SetStore::hash(const std::uint64_t* key) const noexcept {
  std::uint64_t hash = 0;
  for (std::size_t i = 0; i < key_words_; ++i) hash = Rng::mix(hash + key[i] + 0x9e3779b97f4a7c15ULL);
  return hash;
}

std::uint32_t SetStore::find(const std::uint64_t* key) const noexcept {
  if (slots_.empty()) return kNil;
  const std::uint64_t h = hash(key);
  const auto check = static_cast<std::uint32_t>(h >> 32);
  const std::size_t mask = slots_.size() - 1;
  for (std::size_t i = h & mask;; i = (i + 1) & mask) {
    const Slot slot = slots_[i];
    if (slot.set == kNil) return kNil;
    if (slot.check == check && std::memcmp(records_[slot.set], key, key_words_ * 8) == 0) return slot.set;
  }
}

std::uint32_t SetStore::insert(const std::uint64_t* key) {
  if (!make_room() || !records_.grow()) return kNil;
  const std::uint32_t set = records_.size() - 1;
  std::memcpy(records_[set], key, key_words_ * 8);
  head(set) = kNil;
  const std::uint64_t h = hash(key);
  const std::size_t mask = slots_.size() - 1;
  std::size_t i = h & mask;
  while (slots_[i].set != kNil) i = (i + 1) & mask;
  slots_[i] = {set, static_cast<std::uint32_t>(h >> 32)};
  return set;
}

/// Doubles the index at a load of 0.6, or without memory for that accepts up to 0.9.
bool SetStore::make_room() {
  const std::size_t load = records_.size(), slots = slots_.size();
  if (load * 10 < slots * 6) return true;
  const std::size_t more = std::max<std::size_t>(slots * 2, 1U << 10);
  if (!memory_.take(more * sizeof(Slot))) return load * 10 < slots * 9;
  std::vector<Slot> grown(more, Slot{kNil, 0});
  for (std::uint32_t set = 0; set < load; ++set) {
    const std::uint64_t h = hash(records_[set]);
    std::size_t i = h & (more - 1);
    while (grown[i].set != kNil) i = (i + 1) & (more - 1);
    grown[i] = {set, static_cast<std::uint32_t>(h >> 32)};
  }
  slots_.swap(grown);
  memory_.give_back(slots * sizeof(Slot));
  return true;
}

std::uint32_t NodeStore::add(const SearchNode& node) {
  if ((size_ & kMask) == 0) {
    const std::size_t bytes = (std::size_t{1} << kShift) * sizeof(SearchNode) + sizeof(void*) * 2;
    if (size_ >= kNil - kMask - 1 || !memory_.take(bytes)) return kNil;
    blocks_.push_back(std::make_unique_for_overwrite<SearchNode[]>(std::size_t{1} << kShift));
  }
  (*this)[size_] = node;
  return size_++;
}

bool OpenList::push(std::uint32_t node, std::size_t bound) {
  if (bound >= buckets_.size()) {
    const std::size_t more = std::max<std::size_t>(bound + 1, buckets_.size() * 2);
    if (!memory_.take((more - buckets_.size()) * sizeof(std::uint32_t))) return false;
    buckets_.resize(more, kNil);
  }
  nodes_[node].link = buckets_[bound];
  buckets_[bound] = node;
  bound_ = std::min(bound_, bound);
  return true;
}

std::uint32_t OpenList::pop() {
  for (; bound_ < buckets_.size(); ++bound_) {
    const std::uint32_t node = buckets_[bound_];
    if (node == kNil) continue;
    buckets_[bound_] = nodes_[node].link;
    return node;
  }
  return kNil;
}

}  // namespace recommit::sokoban
