// The committed corpus of each fuzz target, run as an ordinary test with any compiler and sanitizer. The targets are
// included, so that what fuzzing checked is exactly what is checked here.
#define RECOMMIT_FUZZ_REPLAY

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "../fuzz/fuzz_ice_text.cpp"
#include "../fuzz/fuzz_sliding_text.cpp"
#include "../fuzz/fuzz_sokoban_text.cpp"
#include "check.hpp"

namespace {

using Target = int (*)(const std::uint8_t*, std::size_t);

void feed(Target target, const std::string& bytes) {
  CHECK(target(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()) == 0);
}

std::string read_file(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

/// Every file, and every prefix of it, so that each level is also seen cut off at each byte.
void replay(const char* name, Target target) {
  const auto folder = std::filesystem::path(RECOMMIT_TESTS_FOLDER) / "fuzz" / "corpus" / name;
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string bytes = read_file(entry.path());
    for (std::size_t size = 0; size <= bytes.size(); ++size) feed(target, bytes.substr(0, size));
    ++files;
  }
  CHECK(files >= 10);
}

}  // namespace

TEST(ice_corpus) { replay("ice_text", fuzz_ice_text); }

TEST(sokoban_corpus) { replay("sokoban_text", fuzz_sokoban_text); }

TEST(sliding_corpus) { replay("sliding_text", fuzz_sliding_text); }

namespace {

constexpr std::string_view kLevel = "#####\n#@$.#\n#####\n";

template <class Parse, class Format>
int check_planted(Parse parse, Format format) {
  return recommit::fuzz::check_levels(reinterpret_cast<const std::uint8_t*>(kLevel.data()), kLevel.size(), parse,
                                      format, valid_sokoban);
}

}  // namespace

// Each promise is broken once on purpose: a harness that cannot fail proves nothing.
TEST(planted_defects_are_caught) {
  using recommit::LevelError, recommit::Pack, recommit::PackFormat, recommit::Text, recommit::fuzz::BrokenPromise;
  using recommit::sokoban::format_levels, recommit::sokoban::parse_levels;
  const auto two_boxes = [](const Text& text) {
    Pack pack = parse_levels(text);
    pack.cells[8] = recommit::sokoban::kBox;
    return pack;
  };
  CHECK_THROWS(check_planted(two_boxes, format_levels), BrokenPromise);
  const auto no_title = [](const Text& text) {
    Pack pack = parse_levels(text);
    pack.titles.clear();
    return pack;
  };
  CHECK_THROWS(check_planted(no_title, format_levels), BrokenPromise);
  const auto other_level = [](const Pack&, PackFormat) { return std::string("#####\n#@*##\n#####\n"); };
  CHECK_THROWS(check_planted(parse_levels, other_level), BrokenPromise);
  const auto fourth_line = [](const Text&) -> Pack { throw LevelError("", 5, 1); };
  CHECK_THROWS(check_planted(fourth_line, format_levels), BrokenPromise);
  const auto seventh_column = [](const Text&) -> Pack { throw LevelError("", 2, 7); };
  CHECK_THROWS(check_planted(seventh_column, format_levels), BrokenPromise);
  CHECK(check_planted(parse_levels, format_levels) == 0);
}

TEST_MAIN
