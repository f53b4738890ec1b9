/* csv_write.c: columns as a CSV file, formatted in parallel.
 *
 * In: a path, the number of rows, columns. Out: a file that fl_read_csv reads back to the same values.
 * What always holds: floats are the shortest text that reads back the same; a null is an empty field (or the
 * first `null` option) and an empty text is ""; a text that looks like another type is in quotes; the bytes
 * do not depend on how rows were cut into pieces. */
#include "io/csv_internal.h"
#include "io/unpack.h"
#include "data/data.h"
#include "data/number.h"
#include "exec/exec.h"

#include <stdlib.h>
#include <string.h>

enum { FL_PIECE_ROWS = 8192, FL_WAVE = 4 }; /* pieces a worker at a time */

typedef struct FlCsvWriting {
  const FlCsvOptions *options;
  const FlTableColumn *columns;
  int32_t n_columns;
  int64_t n_rows, first_piece;
  FlBytes *pieces;
  FlPacking packing;       /* each piece is then a member of its own, so that they are packed in parallel */
  _Atomic bool unquotable; /* a text needs quotes and there are none */
} FlCsvWriting;

static bool needs_quotes(const FlCsvOptions *o, FlText t) {
  if (t.len == 0 || t.ptr[0] == ' ' || t.ptr[t.len - 1] == ' ' || fl_csv_is_null(o, t.ptr, t.len, true))
    return true;
  if (o->quoting && (*t.ptr == '\'' || *t.ptr == '#')) return true; /* no other quote, no comment */
  for (int64_t k = 0; k < t.len; k++) {
    char c = t.ptr[k];
    if (c == o->sep || c == '\n' || c == '\r' || (o->quoting && c == o->quote)) return true;
  }
  return false;
}

static void put_quoted(FlCsvWriting *w, FlBytes *b, FlText t) {
  const FlCsvOptions *o = w->options;
  if (!o->quoting) {
    atomic_store_explicit(&w->unquotable, true, memory_order_relaxed); /* read after the loop has joined */
    return;
  }
  char *to = fl_bytes_room(b, (size_t)t.len * 2 + 2);
  if (!to) return;
  char *at = to;
  *at++ = o->quote;
  for (int64_t k = 0; k < t.len; k++) {
    *at++ = t.ptr[k];
    if (t.ptr[k] == o->quote) *at++ = o->quote;
  }
  *at++ = o->quote;
  b->len += (size_t)(at - to);
}

/* Whether one who looks for types might take a text for something else, with either decimal sign. */
static bool looks_typed(FlText t) {
  int64_t k = 0;
  while (k < t.len && (t.ptr[k] == ' ' || t.ptr[k] == '\t')) k++;
  if (k == t.len || !strchr("+-.,0123456789PtTfFnNiI", t.ptr[k])) return t.len > 0 && k == t.len;
  return fl_csv_class(&(FlCsvOptions){.decimal = '.'}, t.ptr, t.len) != FL_SEEN_TEXT ||
         fl_csv_class(&(FlCsvOptions){.decimal = ','}, t.ptr, t.len) != FL_SEEN_TEXT;
}

static void put_text(FlCsvWriting *w, FlBytes *b, FlText t) {
  if (needs_quotes(w->options, t) || (w->options->quoting && looks_typed(t))) put_quoted(w, b, t);
  else fl_bytes_add(b, t.ptr, (size_t)t.len);
}

/* Whether one who looks for separators, a header or a byte order mark might take a name for something else.
 */
static bool misleads(FlText t) {
  if (fl_csv_class(&(FlCsvOptions){.decimal = '.'}, t.ptr, t.len) != FL_SEEN_TEXT) return true;
  if ((unsigned char)*t.ptr == 0xef) return true;
  for (int64_t k = 0; k < t.len; k++)
    if (t.ptr[k] == ',' || t.ptr[k] == ';' || t.ptr[k] == '\t' || t.ptr[k] == '|') return true;
  return false;
}

static void put_name(FlCsvWriting *w, FlBytes *b, FlText t) {
  if (w->options->quoting && t.len && misleads(t)) put_quoted(w, b, t);
  else put_text(w, b, t);
}

/* A number or a time into FL_NUMBER_ROOM bytes. */
static int print_value(char *to, const FlArray *a, int64_t row) {
  const void *p = a->data;
  switch ((FlDtype)a->dtype) {
  case FL_BOOL: {
    bool yes = ((const uint8_t *)p)[row];
    memcpy(to, yes ? "true" : "false", yes ? 4 : 5);
    return yes ? 4 : 5;
  }
  case FL_I8: return fl_print_i64(to, ((const int8_t *)p)[row]);
  case FL_I16: return fl_print_i64(to, ((const int16_t *)p)[row]);
  case FL_I32: return fl_print_i64(to, ((const int32_t *)p)[row]);
  case FL_I64: return fl_print_i64(to, ((const int64_t *)p)[row]);
  case FL_U8: return fl_print_u64(to, ((const uint8_t *)p)[row]);
  case FL_U16: return fl_print_u64(to, ((const uint16_t *)p)[row]);
  case FL_U32: return fl_print_u64(to, ((const uint32_t *)p)[row]);
  case FL_U64: return fl_print_u64(to, ((const uint64_t *)p)[row]);
  case FL_F32: return fl_print_f32(to, ((const float *)p)[row]);
  case FL_F64: return fl_print_f64(to, ((const double *)p)[row]);
  case FL_DATE: return fl_print_date(to, ((const int32_t *)p)[row]);
  case FL_DATETIME: return fl_print_datetime(to, ((const int64_t *)p)[row]);
  case FL_ANY_DECIMAL: return fl_print_decimal(to, ((const int64_t *)p)[row], fl_decimal_scale(a->dtype));
  case FL_DURATION: return fl_print_duration_iso(to, ((const int64_t *)p)[row]);
  case FL_TEXT:
  case FL_FILE:
  case FL_CATEGORY:
  case FL_LIST:
  case FL_N_DTYPES: break;
  }
  return 0;
}

static void put_field(FlCsvWriting *w, FlBytes *b, const FlTableColumn *c, int64_t row) {
  const FlCsvOptions *o = w->options;
  if (c->valid && !((const uint8_t *)c->valid->data)[row]) {
    if (o->own_nulls) fl_bytes_add(b, o->nulls[0].ptr, (size_t)o->nulls[0].len);
    return;
  }
  if (fl_dtype_is_text(c->values->dtype)) {
    put_text(w, b, ((const FlText *)c->values->data)[row]);
    return;
  }
  char *to = fl_bytes_room(b, FL_NUMBER_ROOM);
  if (!to) return;
  int n = print_value(to, c->values, row);
  if (o->decimal != '.') {
    char *point = memchr(to, '.', (size_t)n);
    bool real = fl_dtype_is_float(c->values->dtype) || fl_dtype_is_decimal(c->values->dtype);
    if (point && real) *point = o->decimal;
  }
  if (o->own_nulls && fl_csv_is_null(o, to, n, false)) { /* a value that is written like a null */
    char copy[FL_NUMBER_ROOM];
    memcpy(copy, to, (size_t)n);
    put_quoted(w, b, (FlText){copy, n});
    return;
  }
  b->len += (size_t)n;
}

static void put_pieces(void *env, int64_t begin, int64_t end, int worker) {
  FlCsvWriting *w = env;
  (void)worker;
  for (int64_t k = begin; k < end; k++) {
    FlBytes *b = &w->pieces[k];
    int64_t row = (w->first_piece + k) * FL_PIECE_ROWS, stop = row + FL_PIECE_ROWS;
    b->len = 0;
    for (; row < (stop < w->n_rows ? stop : w->n_rows); row++) {
      for (int32_t c = 0; c < w->n_columns; c++) {
        if (c) fl_bytes_add(b, &w->options->sep, 1);
        put_field(w, b, &w->columns[c], row);
      }
      fl_bytes_add(b, "\n", 1);
    }
    if (!w->packing || b->failed) continue;
    FlBytes packed = {.memory = b->memory, .owner = b->owner};
    bool ok = fl_pack_add(w->packing, b->at, b->len, &packed);
    fl_bytes_reset(b);
    *b = packed;
    b->failed = b->failed || !ok;
  }
}

/* The line of names, if there is one: a packed file begins with a member in any case. */
static bool put_header(FlCsvWriting *w, FlOutput *out, FlIoError *e) {
  FlBytes b = {0};
  for (int32_t c = 0; w->options->header && c < w->n_columns; c++) {
    if (c) fl_bytes_add(&b, &w->options->sep, 1);
    put_name(w, &b, (FlText){w->columns[c].name, w->columns[c].name_len});
  }
  if (w->options->header) fl_bytes_add(&b, "\n", 1);
  FlBytes packed = {0};
  bool made = !b.failed && (!w->packing || fl_pack_add(w->packing, b.at, b.len, &packed));
  const FlBytes *all = w->packing ? &packed : &b;
  bool ok = made ? fl_output_write(out, all->at, all->len, e)
                 : fl_io_error(e, FL_E_MEMORY, "out of memory while writing `%s`", out->path);
  fl_bytes_reset(&packed);
  fl_bytes_reset(&b);
  return ok;
}

static bool check_quotes(FlCsvWriting *w, const FlOutput *out, FlIoError *e) {
  if (!w->unquotable) return true;
  fl_io_error(e, FL_E_WRITE,
              "cannot write `%s` without quotes: a text is empty or contains the separator or a line end",
              out->path);
  fl_io_help(e, "leave out quote = \"\", or choose another sep");
  return false;
}

static bool put_rows(FlCtx *ctx, FlCsvWriting *w, FlOutput *out, FlIoError *e) {
  int64_t n = (w->n_rows + FL_PIECE_ROWS - 1) / FL_PIECE_ROWS, wave = (int64_t)fl_ctx_workers(ctx) * FL_WAVE;
  w->pieces = calloc((size_t)wave, sizeof *w->pieces);
  bool ok = w->pieces || fl_io_error(e, FL_E_MEMORY, "out of memory while writing `%s`", out->path);
  for (int64_t k = 0; ok && k < wave; k++) w->pieces[k] = fl_output_bytes(out);
  for (; ok && w->first_piece < n; w->first_piece += wave) {
    int64_t now = n - w->first_piece < wave ? n - w->first_piece : wave;
    fl_parallel_for(ctx, now, 1, put_pieces, w);
    ok = check_quotes(w, out, e);
    for (int64_t k = 0; ok && k < now; k++) {
      ok = w->pieces[k].failed ? fl_io_error(e, FL_E_MEMORY, "out of memory while writing `%s`", out->path)
                               : fl_output_write(out, w->pieces[k].at, w->pieces[k].len, e);
    }
  }
  for (int64_t k = 0; w->pieces && k < wave; k++) fl_bytes_reset(&w->pieces[k]);
  free(w->pieces);
  return ok;
}

/* An FlPutFn of an FlCsvWriting. */
static bool put_csv(FlCtx *ctx, FlOutput *out, void *what, FlIoError *e) {
  FlCsvWriting *w = what;
  return put_header(w, out, e) && check_quotes(w, out, e) && put_rows(ctx, w, out, e);
}

bool fl_csv_encode(FlCtx *ctx, const FlCsvOptions *o, const FlTableColumn *columns, int32_t n_columns,
                   int64_t n_rows, const char *label, FlBytes *to, FlIoError *e) {
  FlCsvWriting w = {.options = o, .columns = columns, .n_columns = n_columns, .n_rows = n_rows};
  FlOutput out = {.ctx = ctx, .path = label, .memory = to};
  return put_csv(ctx, &out, &w, e);
}

/* FlPutFns of an FlTable. */
/* What stands for null is never in quotes, which would make it a text: it must be a field without them. */
static bool null_is_a_field(const FlCsvOptions *o, FlIoError *e) {
  FlText t = o->own_nulls ? o->nulls[0] : (FlText){0};
  for (int64_t k = 0; k < t.len; k++) {
    char c = t.ptr[k];
    if (c != o->sep && c != '\n' && c != '\r' && !(o->quoting && c == o->quote)) continue;
    fl_io_error(
        e, FL_E_OPTION,
        "null = \"%.*s\" holds what separates or quotes fields, and would not be read back as one field",
        (int)t.len, t.ptr);
    fl_io_help(e, "a word as `null = \"NA\"`, or nothing: an empty field is null");
    return false;
  }
  return true;
}

static bool put_table(FlCtx *ctx, FlOutput *out, const FlTable *t, const FlCsvOptions *o, FlIoError *e) {
  if (!null_is_a_field(o, e)) return false;
  FlCsvWriting w = {.options = o,
                    .columns = t->columns,
                    .n_columns = t->n_columns,
                    .n_rows = t->n_rows,
                    .packing = fl_packing_of_path((FlText){out->path, (int64_t)strlen(out->path)})};
  return put_csv(ctx, out, &w, e);
}

static bool put_commas(FlCtx *ctx, FlOutput *out, void *what, FlIoError *e) {
  const FlTable *t = what;
  FlCsvOptions o;
  return fl_csv_options_fixed(t->options, &o, e) && put_table(ctx, out, t, &o, e);
}

/* Separated by tabs, if nothing else is said. */
static bool put_tabs(FlCtx *ctx, FlOutput *out, void *what, FlIoError *e) {
  const FlTable *t = what;
  FlCsvOptions o;
  FlOptionAttr tab = {.name = "sep", .text = "\t"};
  FlOptionAttr *all = calloc((size_t)t->options.n + 1, sizeof *all);
  if (!all) return fl_io_error(e, FL_E_MEMORY, "out of memory");
  all[0] = tab;
  for (int32_t k = 0; k < t->options.n; k++) all[k + 1] = t->options.at[k];
  bool ok = fl_csv_options_fixed((FlOptions){all, t->options.n + 1}, &o, e) && put_table(ctx, out, t, &o, e);
  free(all);
  return ok;
}

const FlTableWriter fl_write_csv = {.put = put_commas, .check = fl_csv_check};
const FlTableWriter fl_write_tsv = {.put = put_tabs, .check = fl_csv_check};
