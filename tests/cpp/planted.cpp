// Defects on purpose. `planted NAME` must be stopped by the sanitizer it was built with, or by valgrind;
// tests/verify/sanitizers.py and memcheck.py check that, so that a green run of the other tests means something.
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <limits>
#include <thread>

namespace {

volatile int sink = 0;

int overflow() {
  auto* cells = new std::uint8_t[8];
  volatile std::size_t beyond = 8;
  sink = cells[beyond];
  delete[] cells;
  return 0;
}

int leak() {
  auto* volatile lost = new std::uint8_t[64];
  lost = nullptr;
  return lost == nullptr ? 0 : 1;
}

int undefined() {
  volatile int largest = std::numeric_limits<int>::max();
  sink = largest + 1;
  return 0;
}

// Only memcheck sees it; whether the branch is taken depends on what was in the memory before.
int uninitialised() {
  const auto* volatile cells = new std::uint8_t[8];
  if (cells[3] > 7) sink = 1;
  delete[] cells;
  return 0;
}

int race() {
  int shared = 0;
  const auto write = [&shared] {
    for (int i = 0; i < 1000; ++i) *static_cast<volatile int*>(&shared) = i;
  };
  std::thread first(write), second(write);
  first.join();
  second.join();
  return 0;
}

}  // namespace

int main(int count, char** words) {
  const char* name = count > 1 ? words[1] : "";
  if (std::strcmp(name, "overflow") == 0) return overflow();
  if (std::strcmp(name, "leak") == 0) return leak();
  if (std::strcmp(name, "undefined") == 0) return undefined();
  if (std::strcmp(name, "uninitialised") == 0) return uninitialised();
  if (std::strcmp(name, "race") == 0) return race();
  std::fprintf(stderr, "usage: planted overflow|leak|undefined|uninitialised|race\n");
  return 0;  // a wrong call must not look like a caught defect
}
