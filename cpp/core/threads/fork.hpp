// What a forked child inherits from other threads.
#pragma once

namespace recommit {

/// Something that a forked child inherits as other threads left it. Threads do not survive fork(): a lock that one of
/// them held would stay locked for ever in the child, and what one was making would never be finished.
class ForkAware {
 public:
  virtual void before_fork() = 0;           ///< takes the locks, so that nothing is half changed
  virtual void after_fork(bool child) = 0;  ///< gives them back; the child also forgets what was being made

 protected:
  ~ForkAware() = default;
};

/// From now on, until the process ends.
void survive_fork(ForkAware& each);

/// For `static auto& it = forever(new It)`: never destroyed, as a thread may still use it when the process ends.
template <class T>
T& forever(T* object) {
  survive_fork(*object);
  return *object;
}

}  // namespace recommit
