// Memory of big results, used again instead of given back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <vector>

#include "core/memory/buffer.hpp"
#include "core/threads/fork.hpp"

namespace recommit {

/// Memory of big results, used again once its last owner let go of it. An allocator gives it back to the system
/// instead, and the next result costs a page fault, and the zeroing of a page, for every 4 KB: more than computing what
/// goes into it. Blocks may be taken and given by any thread.
class Recycler final : public ForkAware {
 public:
  /// Room for one result, with whatever was in it before. It begins in the middle of a page: most arrays begin near
  /// the beginning of one, and a load waits for an earlier store whose address ends in the same twelve bits.
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

  /// What blocks that nobody has may hold together, and how many there may be.
  struct Most {
    std::size_t bytes = std::size_t{512} << 20, blocks = 16;
  };

  Recycler() : Recycler(Most{}) {}
  /// Room for every block is made at once: giving one back, which the end of an array does, cannot fail.
  explicit Recycler(Most most) : most_(most) { free_.reserve(most.blocks + 1); }

  Block take(std::size_t bytes);
  void give(Block block);

  /// How many blocks nobody has.
  std::size_t free_blocks();

  void before_fork() override { mutex_.lock(); }
  void after_fork(bool /*child*/) override { mutex_.unlock(); }

 private:
  std::optional<Block> take_free(std::size_t bytes);
  void forget_all();
  void forget_oldest();

  const Most most_;
  std::mutex mutex_;
  std::vector<Block> free_;  ///< the latest last
  std::size_t bytes_ = 0;    ///< of all of them
};

/// The one of this process.
Recycler& recycler();

}  // namespace recommit
