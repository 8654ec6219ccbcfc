// A table as the bytes of a file, and back.
#include "sokoban/table/table_store.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdio>
#include <cstring>
#include <optional>
#include <utility>

#include "core/memory/buffer.hpp"
#include "core/table_file.hpp"

namespace recommit::sokoban {
namespace {

constexpr std::uint32_t kVersion = 1;  // of the content, below

/// Content: number of solvable states 8, greatest distance 4, boxes 4, Level::key(), then the entries; integers and
/// entries of two bytes are little-endian.
constexpr std::size_t kNumbers = 16;

std::size_t head(const Level& level) { return kNumbers + level.key().size(); }

void put(std::uint8_t* to, std::uint64_t value, int bytes) noexcept {
  for (int i = 0; i < bytes; ++i) to[i] = static_cast<std::uint8_t>(value >> (8 * i));
}

std::uint64_t get(const std::uint8_t* from, int bytes) noexcept {
  std::uint64_t value = 0;
  for (int i = bytes; i-- > 0;) value = value << 8 | from[i];
  return value;
}

/// Copies entries between memory and file; the two differ only in wide tables on big-endian machines.
void copy_entries(std::uint8_t* to, const std::uint8_t* from, std::uint64_t bytes, bool wide) {
  std::memcpy(to, from, static_cast<std::size_t>(bytes));
  if (!wide || std::endian::native == std::endian::little) return;
  for (std::uint64_t i = 0; i + 1 < bytes; i += 2) std::swap(to[i], to[i + 1]);
}

TableKey key_of(const Level& level, int boxes, std::uint64_t entries, bool wide) {
  std::array<char, 64> name;
  std::snprintf(name.data(), name.size(), "sokoban-%016llx-%d-%d", static_cast<unsigned long long>(level.hash()), boxes,
                wide ? 2 : 1);
  return {name.data(), kVersion, head(level) + static_cast<std::size_t>(entries) * (wide ? 2 : 1)};
}

}  // namespace

std::filesystem::path TableStore::path(const Level& level, int boxes, bool wide) const {
  return folder_ / (key_of(level, boxes, 0, wide).name + ".tbl");
}

std::shared_ptr<const Table> TableStore::load(const Level& level, int boxes, std::string& note) const {
  std::shared_ptr<Table> table(new Table(level, boxes));
  for (const bool wide : {false, true}) {
    const TableKey key = key_of(level, boxes, table->entries(), wide);
    const std::optional<Buffer> content = read_table(path(level, boxes, wide), key, note);
    if (!note.empty()) return nullptr;
    if (!content) continue;
    const std::uint8_t* from = content->data();
    const bool same = get(from + 12, 4) == static_cast<std::uint64_t>(boxes) &&
                      std::equal(level.key().begin(), level.key().end(), from + kNumbers);
    if (!same) return nullptr;  // another level of the same hash lives in this file
    table->solvable_ = get(from, 8);
    table->max_distance_ = static_cast<Distance>(get(from + 8, 4));
    table->wide_ = wide;
    table->data_ = std::make_unique_for_overwrite<std::uint8_t[]>(static_cast<std::size_t>(table->bytes()));
    copy_entries(table->data_.get(), from + head(level), table->bytes(), wide);
    return table;
  }
  return nullptr;
}

bool TableStore::save(const Level& level, const Table& table, std::string& note) const {
  const TableKey key = key_of(level, table.boxes(), table.entries(), table.wide());
  Buffer content(key.bytes);
  put(content.data(), table.solvable(), 8);
  put(content.data() + 8, static_cast<std::uint64_t>(table.max_distance()), 4);
  put(content.data() + 12, static_cast<std::uint64_t>(table.boxes()), 4);
  std::copy(level.key().begin(), level.key().end(), content.data() + kNumbers);
  copy_entries(content.data() + head(level), table.data(), table.bytes(), table.wide());
  return write_table(path(level, table.boxes(), table.wide()), key, content, note);
}

}  // namespace recommit::sokoban
