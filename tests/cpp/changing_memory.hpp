// Memory that changes under a call, at every moment there is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <set>
#include <stdexcept>
#include <vector>

#include "check.hpp"

#if defined(__linux__) && defined(__x86_64__) && !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)
#define RECOMMIT_CHANGING_MEMORY
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include <csignal>
#endif

/// A writer in another thread that always comes at the worst moment, and at every moment there is.
///
/// Two threads would meet by chance. Here a page is closed, so that each instruction that reads from it stops: the page
/// is opened for this one instruction, and after a chosen one its content changes as a whole. One call after the other
/// runs through all moments, from before the first read to after the last.
namespace fixtures {

using Bytes = std::vector<std::uint8_t>;

#if defined(RECOMMIT_CHANGING_MEMORY)

class ChangingMemory {
 public:
  /// `before` until `moment` instructions have read from it, `after` from then on.
  ChangingMemory(const Bytes& before, const Bytes& after, std::size_t moment) : after_(after), moment_(moment) {
    CHECK(before.size() == after.size() && before.size() <= size());
    page_ =
        static_cast<std::uint8_t*>(mmap(nullptr, size(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    CHECK(page_ != MAP_FAILED);
    std::memcpy(page_, moment == 0 ? after.data() : before.data(), before.size());
    current() = this;
    install(SIGSEGV, open_for_one, faults_);
    install(SIGTRAP, close_again, traps_);
    mprotect(page_, size(), PROT_NONE);
  }
  ~ChangingMemory() {
    sigaction(SIGSEGV, &faults_, nullptr);
    sigaction(SIGTRAP, &traps_, nullptr);
    munmap(page_, size());
  }
  ChangingMemory(const ChangingMemory&) = delete;
  ChangingMemory& operator=(const ChangingMemory&) = delete;

  const std::uint8_t* data() const { return page_; }
  bool changed() const { return reads_ >= moment_; }

  /// valgrind runs no single steps.
  static bool possible() {
    const char* loaded = std::getenv("LD_PRELOAD");
    return loaded == nullptr || std::strstr(loaded, "vgpreload") == nullptr;
  }

 private:
  using Handler = void (*)(int, siginfo_t*, void*);
  static constexpr long long kSingleStep = 0x100;  // of the processor's flags

  static ChangingMemory*& current() {
    static ChangingMemory* memory = nullptr;
    return memory;
  }
  static std::size_t size() { return static_cast<std::size_t>(sysconf(_SC_PAGESIZE)); }

  static void install(int signal, Handler handler, struct sigaction& old) {
    struct sigaction action{};
    action.sa_flags = SA_SIGINFO;
    action.sa_sigaction = handler;
    sigaction(signal, &action, &old);
  }

  static void open_for_one(int, siginfo_t* info, void* context) {
    ChangingMemory& self = *current();
    const auto* at = static_cast<const std::uint8_t*>(info->si_addr);
    if (at < self.page_ || at >= self.page_ + size()) {  // a real one: it happens again, and ends the program
      sigaction(SIGSEGV, &self.faults_, nullptr);
      return;
    }
    mprotect(self.page_, size(), PROT_READ);
    static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_EFL] |= kSingleStep;
  }

  static void close_again(int, siginfo_t*, void* context) {
    ChangingMemory& self = *current();
    static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_EFL] &= ~kSingleStep;
    if (++self.reads_ == self.moment_) {
      mprotect(self.page_, size(), PROT_READ | PROT_WRITE);
      std::memcpy(self.page_, self.after_.data(), self.after_.size());
    }
    mprotect(self.page_, size(), PROT_NONE);
  }

  const Bytes& after_;
  const std::size_t moment_;
  std::uint8_t* page_ = nullptr;
  std::size_t reads_ = 0;
  struct sigaction faults_{}, traps_{};
};

#else

class ChangingMemory {
 public:
  ChangingMemory(const Bytes&, const Bytes&, std::size_t) {}
  const std::uint8_t* data() const { return nullptr; }
  bool changed() const { return false; }
  static bool possible() { return false; }
};

#endif

/// Everything that a reader may have seen who read each byte once.
inline std::vector<Bytes> mixtures(const Bytes& before, const Bytes& after) {
  std::vector<Bytes> all{before};
  for (std::size_t i = 0; i < before.size(); ++i) {
    if (before[i] == after[i]) continue;
    for (std::size_t k = all.size(); k-- > 0;) {
      all.push_back(all[k]);
      all.back()[i] = after[i];
    }
  }
  return all;
}

/// The answer of a call as bytes, or none where it refuses.
template <class Call>
Bytes answer_of(const Call& call, const std::uint8_t* input) {
  try {
    return call(input);
  } catch (const std::invalid_argument&) {
    return {};
  }
}

/// Is every answer, whenever `before` becomes `after`, one that memory at rest could have given?
template <class Call>
bool answers_once(const Call& call, const Bytes& before, const Bytes& after) {
  std::set<Bytes> possible{Bytes{}};
  for (const Bytes& mixture : mixtures(before, after)) possible.insert(answer_of(call, mixture.data()));
  CHECK(possible.size() > 1);
  for (std::size_t moment = 0;; ++moment) {
    const ChangingMemory input(before, after, moment);
    const Bytes answer = answer_of(call, input.data());
    if (possible.count(answer) == 0) return false;
    if (!input.changed()) return true;
  }
}

}  // namespace fixtures
