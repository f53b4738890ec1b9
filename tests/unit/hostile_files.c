/* hostile_files.c: samples of each format cut off anywhere and with other bytes anywhere: what is cut off is
 * an error, what is changed an error or another value; never a crash, never more memory than the file
 * explains. (The samples: tests/run/files/formats. `unit_hostile_files all.arrow 1` tries every byte of one.)
 */
#include "check.h"
#include "io/arrays.h"
#include "io/tables.h"
#include "data/data.h"
#include "exec/exec.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST = 1 << 18, COLUMNS = 64 };

static char folder[] = "/tmp/flow_hostile_XXXXXX", path[64];

typedef struct Format {
  const char *file, *name; /* name: in formats.def; NULL: `op` alone, of an image or a sound */
  FlRuntimeOp *op;
  bool ends;               /* a file that is cut off is told by its end */
  FlOptionAttr options[1]; /* of a table */
  int32_t n_options, step; /* every so many bytes */
} Format;

static const Format formats[] = {
    {.file = "all.arrow", .name = "read_arrow", .op = fl_rt_read_table, .ends = true, .step = 167},
    {.file = "two.arrows", .name = "read_arrow", .op = fl_rt_read_table, .ends = true, .step = 167},
    {.file = "lz4.arrow", .name = "read_arrow", .op = fl_rt_read_table, .ends = true, .step = 101},
    {.file = "zstd.arrows", .name = "read_arrow", .op = fl_rt_read_table, .ends = true, .step = 101},
    {.file = "delta.arrows", .name = "read_arrow", .op = fl_rt_read_table, .ends = true, .step = 35},
    {.file = "hostile.arrow", .name = "read_arrow", .op = fl_rt_read_table, .ends = true, .step = 61},
    {.file = "before.arrows",
     .name = "read_arrow",
     .op = fl_rt_read_table,
     .step = 7}, /* which may just end */
    {.file = "plain.parquet", .name = "read_parquet", .op = fl_rt_read_table, .ends = true, .step = 167},
    {.file = "snappy.parquet", .name = "read_parquet", .op = fl_rt_read_table, .ends = true, .step = 167},
    {.file = "zstd.parquet", .name = "read_parquet", .op = fl_rt_read_table, .ends = true, .step = 167},
    {.file = "gzip.parquet", .name = "read_parquet", .op = fl_rt_read_table, .ends = true, .step = 167},
    {.file = "lz4.parquet", .name = "read_parquet", .op = fl_rt_read_table, .ends = true, .step = 167},
    {.file = "all.arff", .name = "read_arff", .op = fl_rt_read_table, .step = 5},
    {.file = "plain.npz", .name = "read_npz", .op = fl_rt_read_npz, .ends = true, .step = 35},
    {.file = "packed.npz", .name = "read_npz", .op = fl_rt_read_npz, .ends = true, .step = 47},
    {.file = "texts.npz", .name = "read_npz", .op = fl_rt_read_npz, .ends = true, .step = 35},
    {.file = "words.npy", .name = "read_npy", .op = fl_rt_read_npy, .ends = true, .step = 3},
    {.file = "shop.db",
     .name = "read_sqlite",
     .op = fl_rt_read_table,
     .ends = true,
     .options = {{.name = "table", .text = "sales"}},
     .n_options = 1,
     .step = 663},
    {.file = "plain.mat", .name = "read_mat", .op = fl_rt_read_mat, .step = 75},
    {.file = "packed.mat", .name = "read_mat", .op = fl_rt_read_mat, .step = 47},
    {.file = "texts.mat", .name = "read_mat", .op = fl_rt_read_mat, .step = 7},
    {.file = "texts_packed.mat", .name = "read_mat", .op = fl_rt_read_mat, .step = 7},
    {.file = "texts_big.mat", .name = "read_mat", .op = fl_rt_read_mat, .step = 3},
    {.file = "new.mat", .name = "read_mat", .op = fl_rt_read_mat, .ends = true, .step = 363},
    {.file = "some.h5", .name = "read_hdf5", .op = fl_rt_read_hdf5, .ends = true, .step = 663},
    {.file = "texts.h5", .name = "read_hdf5", .op = fl_rt_read_hdf5, .ends = true, .step = 663},
    {.file = "texts73.mat", .name = "read_mat", .op = fl_rt_read_mat, .ends = true, .step = 663},
    {.file = "rgb.png", .op = fl_rt_read_image, .ends = true, .step = 11},
    {.file = "palette.png", .op = fl_rt_read_image, .ends = true, .step = 11},
    {.file = "flat.jpg", .op = fl_rt_read_image, .ends = true, .step = 47},
    {.file = "short.wav", .op = fl_rt_read_wav, .ends = true, .step = 7},
    {.file = "mono.flac", .op = fl_rt_read_wav, .step = 23}};

static size_t read_sample(const char *name, char *out) {
  char from[512];
  (void)snprintf(from, sizeof from, "%s/run/files/formats/%s", FLOW_TESTS, name);
  FILE *f = fopen(from, "r");
  size_t n = f ? fread(out, 1, MOST, f) : 0;
  if (f) fclose(f);
  check(n > 0, "the sample %s is there", name);
  return n;
}

static void put(const char *bytes, size_t n) {
  FILE *f = fopen(path, "w");
  if (!f || fwrite(bytes, 1, n, f) != n || fclose(f)) abort();
}

/* Calls the operator; whether it went well. */
static bool call(const Format *format, FlOpDesc desc, const FlType1 *types) {
  static const FlType1 file_type = {FL_FILE, 0, 0, 0};
  FlRun *run = fl_run_new(NULL, &(FlRunOptions){.workers = 1, .quiet = true});
  FlSlot results[2 * COLUMNS + 4], file = {.t = {path, (int64_t)strlen(path)}};
  desc.site = -1;
  desc.n_args = 1;
  desc.arg_types = &file_type;
  desc.result_types = types;
  bool ok = format->op(fl_run_ctx(run), &desc, &file, results) == 0;
  for (int32_t k = 0; ok && k < desc.n_results; k++)
    if (types[k].rank) fl_array_unref(results[k].a);
  fl_run_free(run);
  return ok;
}

static bool read_table(const Format *format, const FlIoSchema *s) {
  FlColumnAttr columns[COLUMNS + 1];
  FlType1 types[2 * COLUMNS + 4] = {{FL_I64, 0, 0, 0}};
  int32_t n = 1, n_levels = 0;
  for (int32_t k = 0; k < s->n_columns; k++) {
    const FlIoColumn *c = &s->columns[k];
    bool category = c->dtype == FL_CATEGORY;
    int flags = FL_COLUMN_TYPED | (c->arrays ? FL_COLUMN_ARRAYS : c->nullable ? FL_COLUMN_NULLS : 0);
    columns[k] = (FlColumnAttr){.name = c->name, .flags = flags, .dtype = (int32_t)c->dtype};
    types[n++] = (FlType1){(uint8_t)(category ? FL_I32 : c->dtype), c->arrays ? 2 : 1, 0, 0};
    if (c->nullable) types[n++] = (FlType1){FL_BOOL, 1, 0, 0};
    n_levels += category;
  }
  for (int32_t k = 0; k < n_levels; k++) types[n++] = (FlType1){FL_TEXT, 1, 0, 0};
  return call(format,
              (FlOpDesc){.columns = columns,
                         .n_columns = s->n_columns,
                         .options = format->options,
                         .n_options = format->n_options,
                         .format = fl_io_table_reader(format->name),
                         .n_results = n},
              types);
}

static bool read_arrays(const Format *format, const FlIoArrays *all) {
  const char *names[COLUMNS];
  FlType1 types[COLUMNS];
  int32_t n = 0;
  for (int32_t k = 0; k < all->n && n < COLUMNS; k++) {
    if (all->at[k].why) continue;
    names[n] = all->at[k].name;
    types[n++] = (FlType1){(uint8_t)all->at[k].dtype, (uint8_t)all->at[k].rank, 0, 0};
  }
  return call(format, (FlOpDesc){.list = names, .n_list = n, .n_results = n}, types);
}

/* Everything in the file at `path`; whether it went well. */
static bool read_all(const Format *format) {
  FlIoError e;
  if (!format->name) {
    static const FlType1 image[] = {{FL_U8, 3, 0, 0}}, sound[] = {{FL_I64, 0, 0, 0}, {FL_F32, 2, 0, 0}};
    bool is_image = format->op == fl_rt_read_image;
    return call(format, (FlOpDesc){.n_results = is_image ? 1 : 2}, is_image ? image : sound);
  }
  bool ok;
  if (fl_io_schema_of(format->name)) {
    FlIoSchema s;
    if (!fl_io_schema_of(format->name)(path, (FlOptions){format->options, format->n_options}, &s, &e))
      return false;
    ok = s.n_columns > COLUMNS || read_table(format, &s);
    fl_io_schema_reset(&s);
  } else {
    FlIoArrays all;
    if (!fl_io_arrays_of(format->name)(path, &all, &e)) return false;
    ok = read_arrays(format, &all);
    fl_io_arrays_reset(&all);
  }
  return ok;
}

static void test(const Format *format, size_t step) {
  static char sample[MOST], other[MOST];
  size_t n = read_sample(format->file, sample), whole = 0;
  put(sample, n);
  check(read_all(format), "%s is read", format->file);
  for (size_t cut = 0; cut < n; cut += n - cut < 16 ? 1 : step) {
    put(sample, cut);
    whole += read_all(format);
  }
  check(!format->ends || whole == 0, "%s cut off is an error: %zu times it was not", format->file, whole);
  for (size_t at = 0; at < n; at += step) {
    memcpy(other, sample, n);
    other[at] = (char)(other[at] ^ (at % 3 == 0 ? 0xff : at % 3 == 1 ? 0x01 : 0x80));
    put(other, n);
    (void)read_all(format); /* an error or another value */
  }
  passed++; /* it did not crash */
}

int main(int argc, char **argv) {
  const bool all = getenv("FLOW_TEST_ALL") != NULL; /* else each second place */
  if (!mkdtemp(folder)) return 1;
  (void)setenv("FLOW_DUCKDB", "/nowhere", 1); /* Parquet is what our own reader makes of it */
  (void)snprintf(path, sizeof path, "%s/sample", folder);
  for (size_t k = 0; k < sizeof formats / sizeof *formats; k++)
    if (argc < 2 || strcmp(argv[1], formats[k].file) == 0)
      test(&formats[k], argc > 2 ? (size_t)atoi(argv[2]) : (size_t)formats[k].step * (all ? 1 : 2));
  unlink(path);
  rmdir(folder);
  return finish();
}
