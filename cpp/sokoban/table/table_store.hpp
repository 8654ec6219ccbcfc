// Tables in a folder, one file each.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include "sokoban/level.hpp"
#include "sokoban/table/table.hpp"

namespace recommit::sokoban {

/// Tables in a folder, one file each, named by a hash of the level. A file repeats the level's key, so two levels
/// whose hashes collide cannot be mixed up; damage of any kind is found by the checksums of core/table_file.hpp.
class TableStore {
 public:
  explicit TableStore(std::filesystem::path folder) : folder_(std::move(folder)) {}

  /// Null if there is no good file; `note` then says what was wrong with a bad one. Holds twice the table's bytes for a
  /// moment.
  std::shared_ptr<const Table> load(const Level& level, int boxes, std::string& note) const;

  /// False, with a note, where the file cannot be written.
  bool save(const Level& level, const Table& table, std::string& note) const;

  std::filesystem::path path(const Level& level, int boxes, bool wide) const;

 private:
  std::filesystem::path folder_;
};

}  // namespace recommit::sokoban
