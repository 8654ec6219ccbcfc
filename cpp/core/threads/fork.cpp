// The registry of objects that must be consistent across a fork.
#include "core/threads/fork.hpp"

#include <mutex>
#include <vector>

#if defined(__unix__) || defined(__APPLE__)
#include <pthread.h>
#endif

namespace recommit {
namespace {

struct Registry {
  std::mutex mutex;
  std::vector<ForkAware*> all;
};

Registry& registry() {
  static auto* shared = new Registry;
  return *shared;
}

#if defined(__unix__) || defined(__APPLE__)
void before() {
  registry().mutex.lock();
  for (ForkAware* each : registry().all) each->before_fork();
}

void after(bool child) {
  auto& all = registry().all;
  for (auto each = all.rbegin(); each != all.rend(); ++each) (*each)->after_fork(child);
  registry().mutex.unlock();
}

void watch_forks() {
  static const int registered = pthread_atfork(before, [] { after(false); }, [] { after(true); });
  (void)registered;
}
#else
void watch_forks() {}
#endif

}  // namespace

void survive_fork(ForkAware& each) {
  watch_forks();
  const std::lock_guard lock(registry().mutex);
  registry().all.push_back(&each);
}

}  // namespace recommit
