/* mat.c: fuzz target: any bytes as a MATLAB file of version 5; the arrays that it says it has are read. */
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
  if (size >= 128 && data[125] == 2 && data[126] == 'I') return 0; /* HDF5, which is not ours */
  int fd = memfd_create("mat", 0);
  char path[64];
  int n = snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
  if (fd < 0 || write(fd, data, size) != (ssize_t)size) abort();
  FlIoArrays all;
  FlIoError e;
  bool known = fl_io_mat_arrays(path, &all, &e);
  for (int32_t k = 0; known && k < all.n && k < 16; k++) {
    const FlIoArray *a = &all.at[k];
    if (a->why) continue;
    FlRun *run = fl_run_new(NULL, &(FlRunOptions){.workers = 1, .quiet = true});
    FlType1 type = {(uint8_t)a->dtype, (uint8_t)a->rank, 0, 0};
    FlOpDesc desc = {
        .site = -1, .n_args = 1, .n_results = 1, .result_types = &type, .list = &a->name, .n_list = 1};
    FlSlot file = {.t = {path, n}}, result;
    if (fl_rt_read_mat(fl_run_ctx(run), &desc, &file, &result) == 0) {
      use(result.a);
      fl_array_unref(result.a);
    }
    fl_run_free(run);
  }
  if (known) fl_io_arrays_reset(&all);
  close(fd);
  return 0;
}
