// Reuse of free memory blocks for later results.
#include "core/memory/recycler.hpp"

#include <algorithm>
#include <new>
#include <utility>

namespace recommit {

std::uint8_t* Recycler::Block::data() noexcept {
  const auto ragged = reinterpret_cast<std::uintptr_t>(buffer_.data()) % kPage;
  return buffer_.data() + (ragged == 0 ? 0 : kPage - ragged) + kPage / 2;
}

Recycler::Block Recycler::take(std::size_t bytes) {
  if (std::optional<Block> block = take_free(bytes)) return std::move(*block);
  try {
    return Block(bytes);
  } catch (const std::bad_alloc&) {
    forget_all();
    return Block(bytes);
  }
}

void Recycler::give(Block block) {
  if (block.room() > most_.bytes) return;
  block.offer();
  const std::lock_guard lock(mutex_);
  bytes_ += block.room();
  free_.push_back(std::move(block));
  while (bytes_ > most_.bytes || free_.size() > most_.blocks) forget_oldest();
}

std::size_t Recycler::free_blocks() {
  const std::lock_guard lock(mutex_);
  return free_.size();
}

/// The most recent block that is large enough, but not far too large: its memory is most likely still cached.
std::optional<Recycler::Block> Recycler::take_free(std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  const auto fits = [bytes](const Block& block) { return block.room() >= bytes && block.room() / 2 <= bytes; };
  const auto latest = std::find_if(free_.rbegin(), free_.rend(), fits);
  if (latest == free_.rend()) return std::nullopt;
  std::optional<Block> block(std::move(*latest));
  bytes_ -= block->room();
  free_.erase(std::next(latest).base());
  return block;
}

void Recycler::forget_all() {
  const std::lock_guard lock(mutex_);
  while (!free_.empty()) forget_oldest();
}

void Recycler::forget_oldest() {
  bytes_ -= free_.front().room();
  free_.erase(free_.begin());
}

Recycler& recycler() {
  static auto& shared = forever(new Recycler);
  return shared;
}

}  // namespace recommit
