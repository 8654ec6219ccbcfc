// Disk cache of expensive tables.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "core/memory/buffer.hpp"

namespace recommit {

/// A table that is expensive to compute and identical on every machine, cached on disk as bytes.
///
/// The file is a header of 64 bytes (magic, format, version of the content, size, checksums of content and header, all
/// little-endian) and the content. It is written under a unique, unpredictable temporary name, flushed and renamed, so
/// a reader never sees a partial table and concurrent builders end with the same valid file; a link at the name is
/// replaced, and its target is untouched. Any defect of a file (short, long, a flipped bit, another version, a pipe or
/// a device in its place) is detected on reading, without blocking; the table is then rebuilt.
struct TableKey {
  std::string name;       ///< of the file, without its ending
  std::uint32_t version;  ///< of the content: changes whenever the bytes would
  std::size_t bytes;      ///< size of the content
};

/// Provenance of a table, for diagnostics.
struct TableSource {
  bool loaded = false;  ///< from disk; otherwise made now
  std::string path;     ///< the file, empty where there is no usable folder
  std::string note;     ///< what was wrong with the file that was found, or why the table could not be kept
};

/// $RECOMMIT_CACHE, or the user's cache folder of this system plus "recommit"; empty if there is neither.
std::filesystem::path cache_folder();

/// 64 bits over `size` bytes; the same on every machine.
std::uint64_t checksum(const std::uint8_t* data, std::size_t size) noexcept;

/// The table on disk, if there is a good one; `note` says what is wrong with a bad one.
std::optional<Buffer> read_table(const std::filesystem::path& path, const TableKey& key, std::string& note);

/// False, with a note, where the file cannot be written; never leaves a partial file under the final name.
bool write_table(const std::filesystem::path& path, const TableKey& key, const Buffer& content, std::string& note);

/// Reads the table from the cache folder, or makes and keeps it. A folder that is missing, read-only or full is no
/// error: the table is then made in every process.
Buffer load_or_make_table(const TableKey& key, const std::function<Buffer()>& make, TableSource& source);

}  // namespace recommit
