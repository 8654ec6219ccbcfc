#pragma once

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

/// The whole test framework: TEST(name) { CHECK(...); } in any file that ends with TEST_MAIN.
namespace check {

struct Case {
  const char* name;
  std::function<void()> body;
};

inline std::vector<Case>& cases() {
  static std::vector<Case> all;
  return all;
}

struct Register {
  Register(const char* name, std::function<void()> body) { cases().push_back({name, std::move(body)}); }
};

[[noreturn]] inline void fail(const char* expression, const char* file, int line) {
  std::fprintf(stderr, "%s:%d: failed: %s\n", file, line, expression);
  std::exit(1);
}

inline int run() {
  for (const Case& each : cases()) {
    std::printf("%s\n", each.name);
    std::fflush(stdout);
    each.body();
  }
  std::printf("%zu cases passed\n", cases().size());
  return cases().empty() ? 1 : 0;
}

}  // namespace check

#define TEST(name)                                                  \
  static void test_##name();                                        \
  static const check::Register register_##name(#name, test_##name); \
  static void test_##name()

#define CHECK(condition)                                           \
  do {                                                             \
    if (!(condition)) check::fail(#condition, __FILE__, __LINE__); \
  } while (false)

#define CHECK_THROWS(expression, Exception)                                                  \
  do {                                                                                       \
    bool thrown = false;                                                                     \
    try {                                                                                    \
      (void)(expression);                                                                    \
    } catch (const Exception&) {                                                             \
      thrown = true;                                                                         \
    }                                                                                        \
    if (!thrown) check::fail(#expression " does not throw " #Exception, __FILE__, __LINE__); \
  } while (false)

#define TEST_MAIN \
  int main() { return check::run(); }
