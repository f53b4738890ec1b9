/* mat.c: fuzz target: any bytes as a MATLAB file of version 5; the arrays that it says it has are read. */
#include "kit.h"

static volatile uint64_t sink;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size >= 128 && data[125] == 2 && data[126] == 'I') return 0; /* HDF5, which is not ours */
  sink += fuzz_read_arrays(data, size, 16, fl_io_mat_arrays, fl_rt_read_mat);
  return 0;
}
