// Memory of big results, reused instead of freed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <vector>

#include "core/memory/buffer.hpp"
#include "core/threads/fork.hpp"

namespace recommit {

/// Reuses memory of big results once its last owner has released it. An allocator would return it to the system, and
/// the next result would cost a page fault and zeroing for every 4 KB: more than computing its content. Thread-safe.
class Recycler final : public ForkAware {
 public:
  /// Uninitialised memory for one result. It begins in the middle of a page: most arrays begin near the start of one,
  /// and a load stalls on an earlier store whose address has the same low twelve bits.
  class Block {
   public:
    explicit Block(std::size_t bytes) : buffer_(bytes + 2 * kPage) {}
    std::uint8_t* data() noexcept;
    std::size_t room() const noexcept { return buffer_.size() - 2 * kPage; }
    void offer() noexcept { buffer_.offer(); }

   private:
    static constexpr std::size_t kPage = 4096;
    Buffer buffer_;
  };

  /// Limits on the total size and number of free blocks.
  struct Most {
    std::size_t bytes = std::size_t{512} << 20, blocks = 16;
  };

  Recycler() : Recycler(Most{}) {}
  /// Reserved up front, so that returning a block, in an array's destructor, cannot fail.
  explicit Recycler(Most most) : most_(most) { free_.reserve(most.blocks + 1); }

  Block take(std::size_t bytes);
  void give(Block block);

  /// Number of free blocks.
  std::size_t free_blocks();

  void before_fork() override { mutex_.lock(); }
  void after_fork(bool /*child*/) override { mutex_.unlock(); }

 private:
  std::optional<Block> take_free(std::size_t bytes);
  void forget_all();
  void forget_oldest();

  const Most most_;
  std::mutex mutex_;
  std::vector<Block> free_;  ///< most recent last
  std::size_t bytes_ = 0;    ///< total size of the free blocks
};

/// The recycler of this process.
Recycler& recycler();

}  // namespace recommit
