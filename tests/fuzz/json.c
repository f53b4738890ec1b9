/* json.c: fuzz target: any bytes as a JSON file: the types are found, and all columns read with them. */
#include "io/json_internal.h"
#include "kit.h"

static void read_all(const char *path, bool lines) {
  FlIoSchema s;
  FlIoError e;
  if ((lines ? fl_jsonl_schema : fl_json_schema)(path, (FlOptions){0}, &s, &e)) {
    int64_t rows;
    FlTableWanted *w = fuzz_wanted(&s);
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
  FuzzFile f = fuzz_file_new(data, size);
  read_all(f.path, false);
  read_all(f.path, true);
  fuzz_file_free(&f);
  return 0;
}
