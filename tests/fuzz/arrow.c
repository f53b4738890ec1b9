/* arrow.c: fuzz target: any bytes as an Arrow stream or file; what is read of it is read to the last element.
 */
#include "io/arrow.h"
#include "data/data.h"

#include <stdlib.h>

static volatile uint64_t sink;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  /* the columns of the seeds, each by itself: a stream has them or not */
  static const FlTableWanted columns[] = {
      {.name = "i", .name_len = 1, .dtype = FL_I64, .nullable = true},
      {.name = "f", .name_len = 1, .dtype = FL_F64, .nullable = true},
      {.name = "v", .name_len = 1, .dtype = FL_F64, .arrays = true},
      {.name = "vl", .name_len = 2, .dtype = FL_BOOL, .arrays = true},
      {.name = "ls", .name_len = 2, .dtype = FL_TEXT, .nullable = true},
      {.name = "sv", .name_len = 2, .dtype = FL_TEXT, .nullable = true},
      {.name = "when", .name_len = 4, .dtype = FL_DATETIME, .nullable = true},
      {.name = "d64", .name_len = 3, .dtype = FL_DATE, .nullable = true},
      {.name = "c", .name_len = 1, .dtype = FL_CATEGORY, .nullable = true},
      {.name = "cat", .name_len = 3, .dtype = FL_TEXT, .nullable = true},
      {.name = "nul", .name_len = 3, .dtype = FL_I32, .nullable = true},
      {.name = "z", .name_len = 1, .dtype = FL_BOOL, .nullable = true},
      {.name = "name", .name_len = 4, .dtype = FL_TEXT, .nullable = true}};
  for (size_t k = 0; k < sizeof columns / sizeof *columns; k++) {
    FlTableWanted w = columns[k];
    FlInput in;
    FlIoError e;
    int64_t rows;
    if (!fl_input_of_bytes(NULL, (const char *)data, size, "stream", &in, &e)) abort();
    bool ok = fl_arrow_read(NULL, &in, "stream", k % 2, &w, 1, &rows, &e);
    fl_input_close(&in);
    if (!ok) continue;
    sink += fl_array_digest(w.values).lo;
    if (w.levels) sink += fl_array_digest(w.levels).lo;
    fl_table_wanted_reset(&w);
  }
  return 0;
}
