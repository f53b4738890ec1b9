/* npy.c: fuzz target: any bytes as an NPY file; what its header allows is read to the last element. */
#include "kit.h"

static volatile uint64_t sink;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const FlDtype wanted[] = {FL_F64, FL_I64, FL_F32, FL_BOOL, FL_DATE, FL_U8, FL_TEXT};
  FuzzFile f = fuzz_file_new(data, size);
  FlIoArray a;
  FlIoError e;
  if (fl_io_npy_type(f.path, &a, &e) && a.rank > 0) {
    FlType1 type = {(uint8_t)(size % 2 ? a.dtype : wanted[size % 7]), (uint8_t)a.rank, 0, 0};
    sink += fuzz_read(&f, fl_rt_read_npy, type, NULL);
  }
  fuzz_file_free(&f);
  return 0;
}
