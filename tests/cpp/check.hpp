// The whole test framework.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <cstring>
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

/// Is a case among the words of the command line? All are if there are none.
inline bool wanted(const char* name, int count, char** words) {
  if (count < 2) return true;
  for (int i = 1; i < count; ++i)
    if (std::strcmp(words[i], name) == 0) return true;
  return false;
}

/// `PROGRAM` runs all cases, `PROGRAM NAME...` some, `PROGRAM --list` none: it says what there are.
inline int run(int count, char** words) {
  const bool list = count == 2 && std::strcmp(words[1], "--list") == 0;
  std::size_t passed = 0;
  for (const Case& each : cases()) {
    if (!list && !wanted(each.name, count, words)) continue;
    std::printf("%s\n", each.name);
    std::fflush(stdout);
    if (list) continue;
    each.body();
    ++passed;
  }
  if (list) return 0;
  std::printf("%zu cases passed\n", passed);
  return passed == 0 ? 1 : 0;
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
  int main(int count, char** words) { return check::run(count, words); }
