// Fork safety of state shared between threads.
#pragma once

namespace recommit {

/// State that a forked child inherits as other threads left it. Threads do not survive fork(): a lock held by one would
/// stay locked forever in the child, and unfinished work would never complete.
class ForkAware {
 public:
  virtual void before_fork() = 0;           ///< takes the locks, so that all state is consistent
  virtual void after_fork(bool child) = 0;  ///< releases them; the child also forgets unfinished work

 protected:
  ~ForkAware() = default;
};

/// Registers an object for the rest of the process.
void survive_fork(ForkAware& each);

/// For `static auto& it = forever(new It)`: never destroyed, as a thread may still use it when the process ends.
template <class T>
T& forever(T* object) {
  survive_fork(*object);
  return *object;
}

}  // namespace recommit
