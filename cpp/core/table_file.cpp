// Table files: written atomically, verified when read.
#include "core/table_file.hpp"

#include <array>
#include <bit>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <random>
#include <system_error>

#if defined(_WIN32)
#include <io.h>
#else
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#endif

namespace recommit {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kHeader = 64;
constexpr std::array<std::uint8_t, 8> kMagic = {'r', 'c', 'm', 't', 'a', 'b', 'l', 'e'};
constexpr std::uint32_t kFormat = 1;
using Header = std::array<std::uint8_t, kHeader>;

std::uint64_t load64(const std::uint8_t* bytes) noexcept {
  std::uint64_t value = 0;
  if constexpr (std::endian::native == std::endian::little) {
    std::memcpy(&value, bytes, 8);
  } else {
    for (int i = 7; i >= 0; --i) value = value << 8 | bytes[i];
  }
  return value;
}

void store(std::uint8_t* bytes, std::uint64_t value, int width) noexcept {
  for (int i = 0; i < width; ++i) bytes[i] = static_cast<std::uint8_t>(value >> (8 * i));
}

/// magic 8, format 4, version 4, size 8, checksum of the content 8, zeros, checksum of all that 8.
Header make_header(const TableKey& key, std::uint64_t sum) noexcept {
  Header header{};
  std::memcpy(header.data(), kMagic.data(), kMagic.size());
  store(header.data() + 8, kFormat, 4);
  store(header.data() + 12, key.version, 4);
  store(header.data() + 16, key.bytes, 8);
  store(header.data() + 24, sum, 8);
  store(header.data() + 56, checksum(header.data(), 56), 8);
  return header;
}

struct Close {
  void operator()(std::FILE* file) const noexcept { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, Close>;

#if defined(_WIN32)

File open_regular(const fs::path& path, std::string& note) {
  std::error_code error;
  if (fs::exists(path, error) && !fs::is_regular_file(path, error)) note = "not a regular file";
  return note.empty() ? File(std::fopen(path.string().c_str(), "rb")) : File();
}

File create(const fs::path& path) { return File(std::fopen(path.string().c_str(), "wbx")); }

#else

File stream_of(int handle, const char* mode) {
  std::FILE* stream = handle < 0 ? nullptr : fdopen(handle, mode);
  if (stream == nullptr && handle >= 0) ::close(handle);
  return File(stream);
}

/// Null if there is no file, or not a regular one, which `note` then reports. Never blocks: a pipe is opened without
/// waiting for a writer, and closed.
File open_regular(const fs::path& path, std::string& note) {
  const int handle = ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  struct stat what{};
  if (handle < 0 || (fstat(handle, &what) == 0 && S_ISREG(what.st_mode))) return stream_of(handle, "rb");
  ::close(handle);
  note = "not a regular file";
  return nullptr;
}

/// Creates a new file; an existing entry, in particular a link, is neither followed nor written to.
File create(const fs::path& path) {
  constexpr mode_t kByUmask = 0666;
  return stream_of(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, kByUmask), "wb");
}

#endif

std::string system_text() { return std::generic_category().message(errno); }

bool flush_to_disk(std::FILE* file) noexcept {
  if (std::fflush(file) != 0) return false;
#if defined(_WIN32)
  return _commit(_fileno(file)) == 0;
#else
  return fsync(fileno(file)) == 0;
#endif
}

/// The name in the folder is durable only once the folder itself is on disk.
void flush_folder(const fs::path& folder) noexcept {
#if !defined(_WIN32)
  const int handle = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (handle < 0) return;
  (void)fsync(handle);
  ::close(handle);
#else
  (void)folder;
#endif
}

/// A unique, unpredictable name; the random numbers affect no result.
fs::path temporary_name(const fs::path& path) {
  std::random_device device;
  std::array<char, 24> number;
  std::snprintf(number.data(), number.size(), ".%08x%08x.tmp", device(), device());
  return path.string() + number.data();
}

std::string header_problem(const Header& header, const TableKey& key) {
  if (std::memcmp(header.data(), kMagic.data(), kMagic.size()) != 0) return "not a table file";
  if (load64(header.data() + 56) != checksum(header.data(), 56)) return "damaged header";
  const Header expected = make_header(key, load64(header.data() + 24));
  return header == expected ? "" : "another version";
}

const char* variable(const char* name) noexcept {
  const char* value = std::getenv(name);
  return value != nullptr && *value != '\0' ? value : nullptr;
}

}  // namespace

fs::path cache_folder() {
  if (const char* own = variable("RECOMMIT_CACHE")) return own;
#if defined(_WIN32)
  if (const char* local = variable("LOCALAPPDATA")) return fs::path(local) / "recommit" / "cache";
#elif defined(__APPLE__)
  if (const char* home = variable("HOME")) return fs::path(home) / "Library" / "Caches" / "recommit";
#else
  if (const char* cache = variable("XDG_CACHE_HOME")) return fs::path(cache) / "recommit";
  if (const char* home = variable("HOME")) return fs::path(home) / ".cache" / "recommit";
#endif
  return {};
}

std::uint64_t checksum(const std::uint8_t* data, std::size_t size) noexcept {
  constexpr std::uint64_t kA = 0x9e3779b185ebca87ULL, kB = 0xc2b2ae3d27d4eb4fULL;
  const auto round = [](std::uint64_t lane, std::uint64_t word) { return std::rotl(lane + word * kB, 31) * kA; };
  std::array<std::uint64_t, 4> lanes = {kA, kB, ~kA, ~kB};
  std::size_t at = 0;
  for (; at + 32 <= size; at += 32) {
    for (std::size_t lane = 0; lane < 4; ++lane) lanes[lane] = round(lanes[lane], load64(data + at + 8 * lane));
  }
  std::array<std::uint8_t, 32> tail{};
  if (at < size) std::memcpy(tail.data(), data + at, size - at);
  std::uint64_t sum = size;
  for (std::size_t lane = 0; lane < 4; ++lane) {
    sum = round(sum ^ lanes[lane], load64(tail.data() + 8 * lane));
  }
  return sum ^ sum >> 29;
}

std::optional<Buffer> read_table(const fs::path& path, const TableKey& key, std::string& note) {
  const File file = open_regular(path, note);
  if (!file) return std::nullopt;
  Header header{};
  if (std::fread(header.data(), 1, kHeader, file.get()) != kHeader) {
    note = "truncated";
    return std::nullopt;
  }
  note = header_problem(header, key);
  if (!note.empty()) return std::nullopt;
  Buffer content(key.bytes);
  if (std::fread(content.data(), 1, key.bytes, file.get()) != key.bytes) {
    note = "truncated";
  } else if (std::fgetc(file.get()) != EOF) {
    note = "longer than it should be";
  } else if (checksum(content.data(), key.bytes) != load64(header.data() + 24)) {
    note = "checksum does not match";
  }
  return note.empty() ? std::optional<Buffer>(std::move(content)) : std::nullopt;
}

bool write_table(const fs::path& path, const TableKey& key, const Buffer& content, std::string& note) {
  std::error_code error;
  fs::create_directories(path.parent_path(), error);  // a failure shows up when the file is opened
  const fs::path temporary = temporary_name(path);
  const Header header = make_header(key, checksum(content.data(), key.bytes));
  errno = 0;
  File file = create(temporary);
  const bool created = file != nullptr;
  const bool written = created && std::fwrite(header.data(), 1, kHeader, file.get()) == kHeader &&
                       std::fwrite(content.data(), 1, key.bytes, file.get()) == key.bytes && flush_to_disk(file.get());
  if (!written) note = "not kept: " + system_text();
  file.reset();
  if (written) {
    fs::rename(temporary, path, error);
    if (!error) {
      flush_folder(path.parent_path());
      return true;
    }
    note = "not kept: " + error.message();
  }
  if (created) fs::remove(temporary, error);
  return false;
}

Buffer load_or_make_table(const TableKey& key, const std::function<Buffer()>& make, TableSource& source) {
  const fs::path folder = cache_folder();
  const fs::path path = folder.empty() ? fs::path() : folder / (key.name + ".tbl");
  source = TableSource{};
  source.path = path.string();
  std::string problem;
  if (!path.empty()) {
    if (std::optional<Buffer> table = read_table(path, key, problem)) {
      source.loaded = true;
      return std::move(*table);
    }
  }
  Buffer table = make();
  std::string failure;
  if (!path.empty()) write_table(path, key, table, failure);
  if (!problem.empty()) source.note = problem + ", made again";
  if (!failure.empty()) source.note += (source.note.empty() ? "" : "; ") + failure;
  return table;
}

}  // namespace recommit
