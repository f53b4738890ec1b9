/* kit.h: what fuzz targets share: files that are only in memory, columns of a schema, reading all arrays of a
 * file.
 *
 * Nothing fails but by abort, which the fuzzer reports. */
#ifndef FLOW_TESTS_FUZZ_KIT_H
#define FLOW_TESTS_FUZZ_KIT_H

#include "data/data.h"
#include "exec/exec.h"
#include "io/io_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

typedef struct FuzzFile {
  int fd;
  char path[64];
} FuzzFile;

static inline FuzzFile fuzz_file_new(const void *data, size_t size) {
  FuzzFile f = {.fd = memfd_create("fuzz", 0)};
  snprintf(f.path, sizeof f.path, "/proc/self/fd/%d", f.fd);
  if (f.fd < 0 || write(f.fd, data, size) != (ssize_t)size) abort();
  return f;
}

static inline void fuzz_file_free(FuzzFile *f) { close(f->fd); }

/* Every column of the schema, as it was found; to be freed, its arrays too. */
static inline FlTableWanted *fuzz_wanted(const FlIoSchema *s) {
  FlTableWanted *w = calloc((size_t)s->n_columns + 1, sizeof *w);
  if (!w) abort();
  for (int32_t k = 0; k < s->n_columns; k++)
    w[k] = (FlTableWanted){.name = s->columns[k].name,
                           .name_len = (int32_t)strlen(s->columns[k].name),
                           .dtype = s->columns[k].dtype,
                           .nullable = s->columns[k].nullable};
  return w;
}

/* Whether a text is one, to its last byte. */
static inline void fuzz_check_text(FlText t) {
  if (fl_utf8_check(t.ptr, t.len) != t.len) abort();
}

/* Calls a reader of the file for one array, which is read to its last byte, texts too, and summed. */
static inline uint64_t fuzz_read(FuzzFile *f, FlRuntimeOp *read, FlType1 type, const char *const *name) {
  uint64_t sum = 0;
  FlRun *run = fl_run_new(NULL, &(FlRunOptions){.workers = 1, .quiet = true});
  FlOpDesc desc = {
      .site = -1, .n_args = 1, .n_results = 1, .result_types = &type, .list = name, .n_list = name ? 1 : 0};
  FlSlot file = {.t = {f->path, (int64_t)strlen(f->path)}}, result;
  bool ok = read(fl_run_ctx(run), &desc, &file, &result) == 0;
  if (ok && !type.rank && type.dtype == FL_TEXT) fuzz_check_text(result.t);
  if (ok && type.rank > 0) {
    for (int64_t k = 0; type.dtype == FL_TEXT && k < fl_array_count(result.a); k++)
      fuzz_check_text(((const FlText *)result.a->data)[k]);
    for (int64_t k = 0; k < fl_array_bytes(result.a); k++) sum += ((unsigned char *)result.a->data)[k];
    fl_array_unref(result.a);
  }
  fl_run_free(run);
  return sum;
}

/* All arrays, at most `most`, that `list` says the file has. */
static inline uint64_t fuzz_read_arrays(const uint8_t *data, size_t size, int32_t most,
                                        bool (*list)(const char *path, FlIoArrays *out, FlIoError *e),
                                        FlRuntimeOp *read) {
  uint64_t sum = 0;
  FuzzFile f = fuzz_file_new(data, size);
  FlIoArrays all;
  FlIoError e;
  if (list(f.path, &all, &e)) {
    for (int32_t k = 0; k < all.n && k < most; k++) {
      const FlIoArray *a = &all.at[k];
      if (!a->why) sum += fuzz_read(&f, read, (FlType1){(uint8_t)a->dtype, (uint8_t)a->rank, 0, 0}, &a->name);
    }
    fl_io_arrays_reset(&all);
  }
  fuzz_file_free(&f);
  return sum;
}

#endif
