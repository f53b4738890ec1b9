/* npz.c: fuzz target: any bytes as an NPZ file; the arrays that it says it has are read to the last element.
 */
#include "kit.h"

static volatile uint64_t sink;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  sink += fuzz_read_arrays(data, size, INT32_MAX, fl_io_npz_arrays, fl_rt_read_npz);
  return 0;
}
