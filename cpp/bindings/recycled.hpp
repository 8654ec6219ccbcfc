#pragma once

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <new>
#include <utility>
#include <vector>

/// Result arrays whose memory is used again. An allocator gives blocks of some 100 KB back to the system as soon as
/// they are freed, and the next one costs a page fault for every 4 KB: more than computing what goes into it.
namespace recommit::bindings {

namespace py = pybind11;

/// Keeps a few freed blocks of one size. Arrays may outlive whoever made them, and be freed on any thread.
class Recycler : public std::enable_shared_from_this<Recycler> {
 public:
  explicit Recycler(std::size_t bytes) : bytes_(bytes) {}

  /// A new array of bytes, with whatever was in the block before; its shape must have `bytes` elements.
  py::array_t<std::uint8_t> array(const std::vector<py::ssize_t>& shape) {
    auto lease = std::make_unique<Lease>(Lease{shared_from_this(), take()});
    auto* data = reinterpret_cast<std::uint8_t*>(lease->block.get());
    const py::capsule owner(lease.get(), [](void* pointer) {
      const std::unique_ptr<Lease> ended(static_cast<Lease*>(pointer));
      ended->recycler->give(std::move(ended->block));
    });
    lease.release();
    return py::array_t<std::uint8_t>(shape, data, owner);
  }

 private:
  static constexpr std::align_val_t kLine{64};
  static constexpr std::size_t kKept = 4;

  struct Free {
    void operator()(std::byte* block) const noexcept { ::operator delete(block, kLine); }
  };
  using Block = std::unique_ptr<std::byte, Free>;
  struct Lease {
    std::shared_ptr<Recycler> recycler;
    Block block;
  };

  Block take() {
    {
      const std::lock_guard lock(mutex_);
      if (!kept_.empty()) {
        Block block = std::move(kept_.back());
        kept_.pop_back();
        return block;
      }
    }
    return Block(static_cast<std::byte*>(::operator new(bytes_, kLine)));
  }

  void give(Block block) {
    const std::lock_guard lock(mutex_);
    if (kept_.size() < kKept) kept_.push_back(std::move(block));
  }

  std::size_t bytes_;
  std::mutex mutex_;
  std::vector<Block> kept_;
};

}  // namespace recommit::bindings
