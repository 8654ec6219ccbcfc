// A target with a defect: reads one byte too far when the input begins with three chosen bytes. The fuzzer must find
// it.
#include <cstddef>
#include <cstdint>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::vector<std::uint8_t> copy(data, data + size);
  if (size < 3 || copy[0] != '#' || copy[1] != '@' || copy[2] != '\n') return 0;
  const std::uint8_t* cells = copy.data();
  return cells[size] == 1 ? -1 : 0;
}
