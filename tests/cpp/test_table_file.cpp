// Files of tables: written once, checked always, mended where damaged.
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include "check.hpp"
#include "core/table_file.hpp"
#include "sliding_fixtures.hpp"

#if !defined(_WIN32)
#include <sys/stat.h>
#include <unistd.h>
#endif

using namespace recommit;

namespace {

const TableKey kKey{"squares", 3, 5000};

Buffer squares() {
  Buffer out(kKey.bytes);
  for (std::size_t i = 0; i < out.size(); ++i) out.data()[i] = static_cast<std::uint8_t>(i * i);
  return out;
}

bool good(const Buffer& table) {
  const Buffer expected = squares();
  return table.size() == expected.size() && std::equal(table.data(), table.data() + table.size(), expected.data());
}

std::vector<char> slurp(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

void spill(const std::filesystem::path& path, const std::vector<char>& bytes) {
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

}  // namespace

TEST(made_once_then_read) {
  const fixtures::CacheFolder folder("once");
  int made = 0;
  const auto make = [&] { return ++made, squares(); };
  TableSource source;
  CHECK(good(load_or_make_table(kKey, make, source)) && !source.loaded && source.note.empty());
  CHECK(good(load_or_make_table(kKey, make, source)) && source.loaded && made == 1);
  CHECK(source.path == (folder.path() / "squares.tbl").string());
}

TEST(every_damage_is_found_and_repaired) {
  const fixtures::CacheFolder folder("damage");
  const auto path = folder.path() / "squares.tbl";
  TableSource source;
  load_or_make_table(kKey, squares, source);
  const std::vector<char> whole = slurp(path);
  CHECK(whole.size() == 64 + kKey.bytes);
  std::vector<std::vector<char>> damaged;
  for (std::size_t keep = 0; keep < whole.size(); keep += 61)
    damaged.emplace_back(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(keep));
  for (std::size_t bit = 0; bit < whole.size() * 8; bit += bit < 512 ? 1 : 97) {  // every bit of the header
    damaged.push_back(whole);
    damaged.back()[bit / 8] = static_cast<char>(damaged.back()[bit / 8] ^ (1 << bit % 8));
  }
  damaged.push_back(whole);
  damaged.back().push_back(0);
  for (const std::vector<char>& bytes : damaged) {
    spill(path, bytes);
    std::string note;
    CHECK(!read_table(path, kKey, note) && !note.empty());
  }
  spill(path, damaged.back());
  CHECK(good(load_or_make_table(kKey, squares, source)) && !source.loaded);
  CHECK(source.note == "longer than it should be, made again");
  CHECK(slurp(path) == whole);
  std::printf("  %zu damaged files refused\n", damaged.size());
}

TEST(another_version_or_size_is_made_again) {
  const fixtures::CacheFolder folder("version");
  TableSource source;
  load_or_make_table(kKey, squares, source);
  TableKey other = kKey;
  other.version = 4;
  load_or_make_table(other, squares, source);
  CHECK(!source.loaded && source.note == "another version, made again");
}

TEST(no_usable_folder_is_no_error) {
  const fixtures::CacheFolder folder("unusable");
  spill(folder.path() / "file", {'x'});
#if !defined(_WIN32)
  setenv("RECOMMIT_CACHE", (folder.path() / "file" / "below").c_str(), 1);
  TableSource source;
  CHECK(good(load_or_make_table(kKey, squares, source)));
  CHECK(!source.loaded && source.note.rfind("not kept: ", 0) == 0);
#endif
}

#if !defined(_WIN32)

TEST(links_are_replaced_and_never_written_through) {
  const fixtures::CacheFolder folder("links");
  const auto path = folder.path() / "squares.tbl", victim = folder.path() / "victim";
  const std::vector<char> words{'m', 'i', 'n', 'e'};
  spill(victim, words);
  std::filesystem::create_symlink(victim, path);
  // A name that can be guessed is a place for a link: of the process, and counted.
  for (int i = 0; i < 100; ++i) {
    const std::string name = path.string() + "." + std::to_string(getpid()) + "." + std::to_string(i) + ".tmp";
    std::filesystem::create_symlink(victim, name);
  }
  TableSource source;
  CHECK(good(load_or_make_table(kKey, squares, source)) && source.note == "truncated, made again");
  CHECK(slurp(victim) == words);
  CHECK(std::filesystem::symlink_status(path).type() == std::filesystem::file_type::regular);
  CHECK(good(load_or_make_table(kKey, squares, source)) && source.loaded);
}

TEST(what_is_no_file_is_made_again_without_waiting) {
  const fixtures::CacheFolder folder("pipe");
  const auto path = folder.path() / "squares.tbl";
  TableSource source;
  CHECK(mkfifo(path.c_str(), 0600) == 0);  // whoever opens it for reading waits for a writer
  CHECK(good(load_or_make_table(kKey, squares, source)) && source.note == "not a regular file, made again");
  CHECK(good(load_or_make_table(kKey, squares, source)) && source.loaded);
  std::filesystem::remove(path);
  std::filesystem::create_symlink("/dev/zero", path);
  CHECK(good(load_or_make_table(kKey, squares, source)) && source.note == "not a regular file, made again");
  CHECK(good(load_or_make_table(kKey, squares, source)) && source.loaded);
  std::filesystem::remove(path);
  std::filesystem::create_directory(path);
  CHECK(good(load_or_make_table(kKey, squares, source)));
  CHECK(source.note.rfind("not a regular file, made again; not kept: ", 0) == 0);
}

#endif

TEST(many_builders_at_once) {
  const fixtures::CacheFolder folder("builders");
  for (int round = 0; round < 20; ++round) {
    std::filesystem::remove(folder.path() / "squares.tbl");
    std::vector<std::thread> builders;
    for (int i = 0; i < 4; ++i) {
      builders.emplace_back([] {
        TableSource source;
        CHECK(good(load_or_make_table(kKey, squares, source)));
        CHECK(source.note.empty());
      });
    }
    for (std::thread& builder : builders) builder.join();
    TableSource source;
    CHECK(good(load_or_make_table(kKey, squares, source)) && source.loaded);
  }
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path())) files += entry.is_regular_file();
  CHECK(files == 1);  // no temporary name is left behind
}

TEST_MAIN
