/* npy.c: fuzz target: any bytes as an NPY file; what its header allows is read to the last element. */
#include "data/data.h"
#include "exec/exec.h"
#include "io/io.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static volatile uint64_t sink;

/* Looks at every byte of the elements, and of what they refer to. */
static void use(const FlArray *a) {
  for (int64_t k = 0; k < fl_array_bytes(a); k++) sink += ((unsigned char *)a->data)[k];
  for (int64_t k = 0; a->dtype == FL_TEXT && k < fl_array_count(a); k++) {
    FlText t = ((const FlText *)a->data)[k];
    if (fl_utf8_check(t.ptr, t.len) != t.len) abort();
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const FlDtype wanted[] = {FL_F64, FL_I64, FL_F32, FL_BOOL, FL_DATE, FL_U8, FL_TEXT};
  int fd = memfd_create("npy", 0);
  char path[64];
  int n = snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
  if (fd < 0 || write(fd, data, size) != (ssize_t)size) abort();
  FlDtype dtype;
  int32_t rank;
  int64_t dims[FL_MAX_RANK];
  FlIoError e;
  if (fl_io_npy_type(path, &dtype, &rank, dims, &e)) {
    FlRun *run = fl_run_new(NULL, &(FlRunOptions){.workers = 1, .quiet = true});
    FlType1 type = {(uint8_t)(size % 2 ? dtype : wanted[size % 7]), (uint8_t)rank, 0, 0};
    FlOpDesc desc = {.site = -1, .n_args = 1, .n_results = 1, .result_types = &type};
    FlSlot file = {.t = {path, n}}, result;
    if (rank > 0 && fl_rt_read_npy(fl_run_ctx(run), &desc, &file, &result) == 0) {
      use(result.a);
      fl_array_unref(result.a);
    }
    fl_run_free(run);
  }
  close(fd);
  return 0;
}
