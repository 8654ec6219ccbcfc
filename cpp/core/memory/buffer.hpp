// Zeroed memory for big tables, on huge pages if available.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace recommit {

/// Zeroed bytes for big tables, aligned to 2 MiB where the system offers huge pages: random reads then miss the
/// translation cache far less often. Memory is committed when first touched. Moves, never copies.
class Buffer {
 public:
  Buffer() = default;
  explicit Buffer(std::size_t size) : size_(size) {
#if defined(__linux__)
    if (size >= kHuge) {
      // One huge page more than needed, so that the aligned part always fits.
      void* raw = mmap(nullptr, size + kHuge, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      if (raw == MAP_FAILED) throw std::bad_alloc();
      const auto address = reinterpret_cast<std::uintptr_t>(raw);
      auto* data = reinterpret_cast<std::uint8_t*>((address + kHuge - 1) & ~std::uintptr_t{kHuge - 1});
      madvise(data, size, MADV_HUGEPAGE);  // a hint: failure is fine
      bytes_ = Bytes(data, Free{raw, size + kHuge});
      return;
    }
#endif
    auto* data = static_cast<std::uint8_t*>(std::calloc(size == 0 ? 1 : size, 1));
    if (data == nullptr) throw std::bad_alloc();
    bytes_ = Bytes(data, Free{nullptr, 0});
  }

  std::uint8_t* data() noexcept { return bytes_.get(); }
  const std::uint8_t* data() const noexcept { return bytes_.get(); }
  std::size_t size() const noexcept { return size_; }

  /// Lets the system reclaim the huge pages of a big buffer under memory pressure; reclaimed pages read as zeros.
  /// Others are free to use again. Only whole huge pages: splitting the last one would be costly.
  void offer() noexcept {
#if defined(__linux__) && defined(MADV_FREE)
    if (bytes_.get_deleter().raw != nullptr) madvise(bytes_.get(), size_ / kHuge * kHuge, MADV_FREE);  // also a hint
#endif
  }

 private:
  static constexpr std::size_t kHuge = std::size_t{2} << 20;
  struct Free {
    void* raw;
    std::size_t mapped;
    void operator()(std::uint8_t* data) const noexcept {
#if defined(__linux__)
      if (raw != nullptr) {
        munmap(raw, mapped);
        return;
      }
#endif
      std::free(data);
    }
  };
  using Bytes = std::unique_ptr<std::uint8_t, Free>;
  Bytes bytes_{nullptr, Free{nullptr, 0}};
  std::size_t size_ = 0;
};

}  // namespace recommit
