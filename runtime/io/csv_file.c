/* csv_file.c: a CSV file opened: unpacked, its text in UTF-8 with a line end at the end, and its header.
 *
 * What always holds: text[len - 1] is a line end (added when the file lacks it), so every row ends with one;
 * a byte order mark, `skip` lines and the header are before `body`. */
#include "io/csv_internal.h"
#include "data/data.h"
#include "io/unpack.h"

#include <stdlib.h>
#include <string.h>

/* The fields of the header row, quotes included, as parts of the text: the first `room` of them; returns how
 * many there are. Where quotes do not fit, each separator of its line ends a field. */
static int32_t fields_of(const FlCsvFile *f, const FlCsvOptions *o, FlCsvRow row, FlText *out, int32_t room) {
  int32_t n = 0;
  int64_t end = row.end > row.begin && f->text[row.end - 1] == '\r' ? row.end - 1 : row.end;
  bool inside = false, fit = row.why == FL_CSV_OK;
  for (int64_t at = row.begin, begin = at;; at++) {
    if (at < end && fit && o->quoting && f->text[at] == o->quote) inside = !inside;
    if (at < end && (inside || f->text[at] != o->sep)) continue;
    if (n < room) out[n] = (FlText){f->text + begin, at - begin};
    n++;
    if (at >= end) return n;
    begin = at + 1;
  }
}

/* Of a field whose quotes do not fit, all of it is the name. NULL: out of memory. */
static char *make_name(const FlCsvOptions *o, FlText field, int32_t k) {
  bool doubled = false;
  FlText t = field;
  if (o->quoting && t.len && t.ptr[0] == o->quote && !fl_csv_unquote(t.ptr, t.len, o->quote, &t, &doubled)) {
    t = field;
    doubled = false;
  }
  if (t.len == 0) {
    FlBytes b = {0};
    fl_bytes_addf(&b, "column_%d", k + 1);
    if (fl_bytes_room(&b, 1)) b.at[b.len] = 0;
    return b.at;
  }
  char *name = malloc((size_t)t.len + 1), *to = name;
  for (int64_t j = 0; name && j < t.len; j++) {
    *to++ = t.ptr[j];
    if (doubled && t.ptr[j] == o->quote) j++;
  }
  if (name) *to = 0;
  return name;
}

static bool header_quotes(const FlCsvFile *f, FlCsvRow row, FlIoError *e) {
  long long line = (long long)fl_csv_line_at(f, row.at);
  if (row.why == FL_CSV_OPEN_QUOTE)
    fl_io_error(e, FL_E_QUOTE, "`%s` line %lld: a quote in the name of column %d is never closed", f->path,
                line, row.column + 1);
  else
    fl_io_error(e, FL_E_QUOTE, "`%s` line %lld: the name of column %d is not quoted properly", f->path, line,
                row.column + 1);
  fl_io_help(
      e,
      "take such names as they stand: on_error = \"collect\", or, for files without quoting, quote = \"\"");
  e->line = line;
  return false;
}

static bool read_names(FlCsvFile *f, const FlCsvOptions *o, int64_t at, FlIoError *e) {
  FlCsvRow row = fl_csv_row_at(f->text, f->len, fl_csv_way(o, 0), at, NULL);
  if (row.why != FL_CSV_OK && o->header && !o->collect) return header_quotes(f, row, e);
  int32_t n = fields_of(f, o, row, NULL, 0);
  FlText *fields = calloc((size_t)n, sizeof *fields);
  f->names = calloc((size_t)n, sizeof *f->names);
  bool ok = fields && f->names;
  if (!ok) fl_io_error(e, FL_E_MEMORY, "out of memory while reading `%s`", f->path);
  if (ok) {
    fields_of(f, o, row, fields, n);
    f->n_columns = n;
  }
  for (int32_t k = 0; ok && k < n; k++) {
    FlText t = o->header ? fields[k] : (FlText){NULL, 0};
    f->names[k] = make_name(o, t, k);
    f->bare_names = f->bare_names || (t.len && !(o->quoting && *t.ptr == o->quote));
    if (!f->names[k]) {
      ok = fl_io_error(e, FL_E_MEMORY, "out of memory while reading `%s`", f->path);
    } else if (memchr(t.ptr ? t.ptr : "", 0, (size_t)t.len) || fl_utf8_check(t.ptr, t.len) != t.len) {
      ok = fl_io_error(e, FL_E_UTF8, "the name of column %d in the header of `%s` is not UTF-8 text", k + 1,
                       f->path);
      fl_io_help(
          e, memchr(t.ptr, 0, (size_t)t.len)
                 ? "if the file is in UTF-16 without a byte order mark, say encoding = \"utf-16le\""
                 : "if the file is from an older program, say encoding = \"windows-1252\" or \"latin-1\"");
    }
  }
  free(fields);
  ok = ok && fl_csv_index_names(f, e);
  if (!ok || !o->header) return ok;
  f->body = row.end + 1;
  return true;
}

bool fl_csv_open(FlCtx *ctx, const char *path, const FlCsvOptions *o, FlCsvFile *f, FlIoError *e) {
  FlInput in;
  return fl_input_open(ctx, path, &in, e) && fl_csv_open_input(ctx, &in, path, o, f, e);
}

/* Behind a byte order mark and the lines that `skip` says. */
static int64_t after_skipped(const FlCsvFile *f, int64_t skip) {
  int64_t at = f->len >= 3 && memcmp(f->text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
  for (; skip > 0 && at < f->len; skip--)
    at = (const char *)memchr(f->text + at, '\n', (size_t)(f->len - at)) - f->text + 1;
  return at;
}

/* The first line from `at` on that is neither blank nor a comment. */
static int64_t first_row(const FlCsvFile *f, int64_t at) {
  char comment = f->options.comment;
  for (;;) {
    const char *s = f->text + at;
    bool blank = at < f->len && (s[0] == '\n' || (s[0] == '\r' && s[1] == '\n'));
    if (at >= f->len || !(blank || (comment && *s == comment))) return at;
    at = (const char *)memchr(s, '\n', (size_t)(f->len - at)) - f->text + 1;
  }
}

bool fl_csv_open_input(FlCtx *ctx, FlInput *in, const char *path, const FlCsvOptions *o, FlCsvFile *f,
                       FlIoError *e) {
  memset(f, 0, sizeof *f);
  f->path = path;
  f->input = *in;
  f->options = *o;
  bool ok = fl_input_unpack(ctx, &f->input, path, INT64_MAX, NULL, e) && fl_csv_decode(ctx, f, o, e);
  int64_t at = ok ? after_skipped(f, o->skip) : 0;
  if (ok && (o->open & FL_CSV_FRONT)) {
    f->options.skip = fl_csv_find_skip(f, o, at);
    at = after_skipped(f, f->options.skip);
  }
  ok = ok && fl_csv_find_dialect(f, &f->options, at, e);
  int64_t row = ok ? first_row(f, at) : 0;
  if (ok && row >= f->len) ok = fl_io_error(e, FL_E_EMPTY, "`%s` is empty: there is no header", path);
  ok = ok && read_names(f, &f->options, row, e);
  /* A blank line is a row where there is one column only. */
  if (ok && !f->options.header) f->body = f->n_columns == 1 ? at : row;
  ok = ok && fl_csv_hide_comments(ctx, f, e);
  if (!ok) fl_csv_close(f);
  return ok;
}

void fl_csv_close(FlCsvFile *f) {
  for (int32_t k = 0; k < f->n_columns; k++) free(f->names[k]);
  free(f->names);
  free(f->index.slot);
  free(f->index.again);
  fl_buffer_unref(f->keep);
  fl_input_close(&f->input);
}

int64_t fl_csv_line_at(const FlCsvFile *f, int64_t offset) {
  int64_t line = 1;
  for (const char *s = f->text, *end = s + offset; s < end && (s = memchr(s, '\n', (size_t)(end - s))); s++)
    line++;
  return line;
}
