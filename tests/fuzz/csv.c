/* csv.c: fuzz target: any bytes as a CSV file.
 *
 * The first byte chooses options and chunk size, the second how the rest is put into the file: as it is,
 * behind a byte order mark, or compressed, whole or with one byte changed. How it is written and the types
 * are found, all columns read with them; two chunk sizes and two ways of scanning must agree. */
#include "../unit/csv_texts.h"
#include "io/unpack.h"
#include "kit.h"

static const char *const option_sets[][3] = {
    {NULL},
    {"sep=;", "decimal=,"},
    {"quote=", "header=false"},
    {"skip=1", "null=x", "null=1"},
    {"encoding=latin-1"},
    {"on_error=null", "dates=%d.%m.%Y"},
    {"on_error=collect"},
    {"encoding=windows-1252"},
    {"encoding=utf-16le"},
    {"comment=#", "header=true"},
    {"quote='", "sep=\t"},
};
enum { N_SETS = sizeof option_sets / sizeof *option_sets };

/* Folds outcome and values into one number. */
static uint64_t read_with(const char *path, const FlCsvOptions *o, const FlIoSchema *s, const FlCsvScan *scan,
                          int64_t chunk) {
  FlIoError e;
  int64_t rows = 0;
  FlTableWanted *w = fuzz_wanted(s);
  uint64_t all = 1;
  if (fl_csv_read(NULL, path, o, scan, chunk, w, s->n_columns, &rows, NULL, &e)) {
    for (int32_t k = 0; k < s->n_columns; k++) {
      all = all * 31 + fl_array_digest(w[k].values).lo;
      if (w[k].valid) all = all * 31 + fl_array_digest(w[k].valid).lo;
      fl_array_unref(w[k].values);
      fl_array_unref(w[k].valid);
    }
  } else {
    all = (uint64_t)e.code * 1000003 + (uint64_t)e.row * 1009 + (uint64_t)e.line;
  }
  free(w);
  return all;
}

/* The file's bytes, from how to make them and what of. */
static void wrap(uint8_t how, const uint8_t *data, size_t size, FlBytes *to) {
  const char *bytes = (const char *)data;
  bool changed = how & 8;
  switch (how % 8) {
  case 1: fl_bytes_add(to, "\xff\xfe", 2); break;
  case 2: fl_bytes_add(to, "\xfe\xff", 2); break;
  case 3: fl_bytes_add(to, "\xef\xbb\xbf", 3); break;
  case 4:
  case 5:
    if (!fl_pack_add(FL_PACKING_GZIP, bytes, size / 2, to)) abort();
    if (!fl_pack_add(FL_PACKING_GZIP, bytes + size / 2, size - size / 2, to)) abort();
    break;
  case 6:
  case 7:
    if (!fl_pack_add(FL_PACKING_ZSTD, bytes, size, to)) abort();
    break;
  default: break;
  }
  if (how % 8 < 4) fl_bytes_add(to, bytes, size);
  if (changed && size > 1 && to->len) to->at[(data[0] * 256u + data[1]) % to->len] ^= (char)(1 << (how >> 5));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size < 2) return 0;
  const char *const *options = option_sets[data[0] % N_SETS];
  int32_t n_options = 0;
  while (n_options < 3 && options[n_options]) n_options++;
  int64_t chunk = 1 + data[0] / N_SETS;
  FlBytes bytes = {0};
  wrap(data[1], data + 2, size - 2, &bytes);
  if (bytes.failed) abort();
  FuzzFile f = fuzz_file_new(bytes.at, bytes.len);
  fl_bytes_reset(&bytes);
  FlIoSchema s;
  FlIoError e;
  FlCsvOptions o;
  if (!texts_options(options, n_options, &o, &e)) abort();
  if (texts_schema(f.path, options, n_options, &s, &e)) {
    uint64_t whole = read_with(f.path, &o, &s, fl_csv_scan_best(), FL_CSV_CHUNK);
    const FlCsvScan *last = fl_csv_scan_best();
    for (int k = 0; fl_csv_scan_at(k); k++) last = fl_csv_scan_at(k);
    if (read_with(f.path, &o, &s, last, chunk) != whole) abort();
    fl_io_schema_reset(&s);
  }
  fuzz_file_free(&f);
  return 0;
}
