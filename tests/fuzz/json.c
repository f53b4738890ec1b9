/* json.c: fuzz target: any bytes as a JSON file: the types are found, and all columns read with them. */
#include "io/json_internal.h"
#include "data/data.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_all(const char *path, bool lines) {
  FlIoSchema s;
  FlIoError e;
  if ((lines ? fl_io_jsonl_schema : fl_io_json_schema)(path, NULL, 0, &s, &e)) {
    int64_t rows;
    FlTableWanted *w = calloc((size_t)s.n_columns + 1, sizeof *w);
    for (int32_t k = 0; k < s.n_columns; k++)
      w[k] = (FlTableWanted){.name = s.columns[k].name,
                             .name_len = (int32_t)strlen(s.columns[k].name),
                             .dtype = s.columns[k].dtype,
                             .nullable = s.columns[k].nullable};
    /* the types came from all of the file */
    if (!fl_json_read(NULL, path, lines, w, s.n_columns, &rows, &e)) abort();
    for (int32_t k = 0; k < s.n_columns; k++) {
      fl_array_unref(w[k].values);
      fl_array_unref(w[k].valid);
    }
    free(w);
    fl_io_schema_reset(&s);
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  char path[32];
  int fd = memfd_create("fuzz", 0);
  if (fd < 0 || write(fd, data, size) != (ssize_t)size) abort();
  snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
  read_all(path, false);
  read_all(path, true);
  close(fd);
  return 0;
}
