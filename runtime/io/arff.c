/* arff.c: ARFF files of Weka and OpenML as tables.
 *
 *   file      := (@relation name | @attribute name type)* @data row*      a line each; blank lines and %... are left out
 *   type      := numeric | real | integer | string | date [pattern] | { value , ... }
 *   row       := value , ...             as many as there are attributes; ? is null
 *   name, value := word | '...' | "..."  in quotes with \', \", \\, \n, \r, \t, \%
 *
 * What always holds: the types are those of the header: a nominal attribute is a category with its values as
 * levels, in their order; a value is stored as it is or is an error with its line. Sparse rows, weights and
 * attributes that are relations are refused. */
#include "io/csv_internal.h"
#include "data/text_order.h"
#include "data/data.h"
#include "exec/exec.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { FL_E_ARFF = 967, FL_ARFF_SAMPLE = 64 << 20 }; /* bytes of rows that are looked at for nulls */

typedef struct Attribute {
  FlText name;
  FlDtype dtype;
  FlText *levels; /* of a CATEGORY; NULL: of another type */
  int32_t n_levels;
} Attribute;

typedef struct Arff {
  FlInput in;
  bool is_open;
  const char *path, *at, *end; /* where the next line begins, where the file ends */
  int64_t line;                /* number of the line that was taken last */
  Attribute *attributes;
  int32_t n, room;
  FlHeap *heap; /* names, levels, texts */
} Arff;

/* The rest of a line. */
typedef struct Line {
  const char *at, *end;
} Line;

/* A word or what is in quotes. */
typedef struct Token {
  FlText text;
  bool quoted;
} Token;

static bool bad(const Arff *f, const char *what, FlIoError *e) {
  e->line = f->line;
  return fl_io_error(e, FL_E_ARFF, "`%s` line %lld: %s", f->path, (long long)f->line, what);
}

static bool no_memory(const char *path, FlIoError *e) {
  return fl_io_error(e, FL_E_MEMORY, "out of memory while reading `%s`", path);
}

/* ---- lines and words ---------------------------------------------------------------------------------- */

static void skip_blanks(Line *l) {
  while (l->at < l->end && (*l->at == ' ' || *l->at == '\t')) l->at++;
}

/* Whether nothing follows but a comment. */
static bool ends(Line *l) {
  skip_blanks(l);
  return l->at == l->end || *l->at == '%';
}

/* The next line that has more than a comment; false: there is none. */
static bool next_line(Arff *f, Line *l) {
  while (f->at < f->end) {
    const char *stop = memchr(f->at, '\n', (size_t)(f->end - f->at));
    *l = (Line){f->at, stop ? stop : f->end};
    f->at = stop ? stop + 1 : f->end;
    f->line++;
    if (l->end > l->at && l->end[-1] == '\r') l->end--;
    if (!ends(l)) return true;
  }
  return false;
}

static char escaped(char c) { return c == 'n' ? '\n' : c == 'r' ? '\r' : c == 't' ? '\t' : c; }

/* What is in quotes; the bytes are in the file, or in the heap where there are escapes. */
static bool read_quoted(Arff *f, Line *l, Token *t, FlIoError *e) {
  char quote = *l->at++;
  const char *from = l->at;
  int64_t n_escapes = 0;
  for (; l->at < l->end && *l->at != quote; l->at++)
    if (*l->at == '\\' && l->at + 1 < l->end) l->at++, n_escapes++;
  if (l->at == l->end) return bad(f, "a quote is never closed", e);
  int64_t len = l->at++ - from;
  *t = (Token){{from, len - n_escapes}, true};
  if (!n_escapes) return true;
  char *to = fl_heap_alloc(f->heap, len);
  if (!to) return fl_io_error(e, FL_E_MEMORY, "out of memory");
  t->text.ptr = to;
  for (int64_t k = 0; k < len; k++) *to++ = from[k] == '\\' && k + 1 < len ? escaped(from[++k]) : from[k];
  return true;
}

/* A word ends at a comma, a brace, a comment, and in the header at a blank. */
static bool read_token(Arff *f, Line *l, bool blanks_end, Token *t, FlIoError *e) {
  skip_blanks(l);
  if (l->at < l->end && (*l->at == '\'' || *l->at == '"')) return read_quoted(f, l, t, e);
  const char *from = l->at;
  while (l->at < l->end && !memchr(",{}%", *l->at, 4) && !(blanks_end && (*l->at == ' ' || *l->at == '\t')))
    l->at++;
  const char *to = l->at;
  while (to > from && (to[-1] == ' ' || to[-1] == '\t')) to--;
  *t = (Token){{from, to - from}, false};
  return t->text.len > 0 || bad(f, "a value is missing; ? stands for none", e);
}

static bool is_word(FlText t, const char *word) {
  return t.len == (int64_t)strlen(word) && strncasecmp(t.ptr, word, (size_t)t.len) == 0;
}

/* ---- the header --------------------------------------------------------------------------------------- */

/* { a, 'b c', ... } */
static bool read_levels(Arff *f, Line *l, Attribute *a, FlIoError *e) {
  int32_t room = 1;
  for (const char *c = l->at; c < l->end; c++) room += *c == ',';
  a->dtype = FL_CATEGORY;
  a->levels = calloc((size_t)room, sizeof *a->levels);
  if (!a->levels) return no_memory(f->path, e);
  for (l->at++;; l->at++) {
    Token t;
    if (!read_token(f, l, false, &t, e)) return false;
    a->levels[a->n_levels++] = t.text;
    skip_blanks(l);
    if (l->at == l->end || (*l->at != ',' && *l->at != '}'))
      return bad(f, "the values of an attribute do not end with }", e);
    if (*l->at == '}') break;
  }
  l->at++;
  return true;
}

/* Patterns that dates of flow are written by; those by others stay texts. */
static bool read_date(Arff *f, Line *l, Attribute *a, FlIoError *e) {
  Token t;
  a->dtype = FL_DATETIME;
  if (ends(l)) return true;
  if (!read_token(f, l, true, &t, e)) return false;
  bool known = is_word(t.text, "yyyy-MM-dd'T'HH:mm:ss") || is_word(t.text, "yyyy-MM-dd HH:mm:ss");
  a->dtype = is_word(t.text, "yyyy-MM-dd") ? FL_DATE : known ? FL_DATETIME : FL_TEXT;
  return true;
}

static bool read_type(Arff *f, Line *l, Attribute *a, FlIoError *e) {
  Token t;
  skip_blanks(l);
  if (l->at < l->end && *l->at == '{') return read_levels(f, l, a, e);
  if (!read_token(f, l, true, &t, e)) return false;
  if (is_word(t.text, "numeric") || is_word(t.text, "real")) a->dtype = FL_F64;
  else if (is_word(t.text, "integer")) a->dtype = FL_I64;
  else if (is_word(t.text, "string")) a->dtype = FL_TEXT;
  else if (is_word(t.text, "date")) return read_date(f, l, a, e);
  else return bad(f, "this is no type of an attribute that a column can have", e);
  return true;
}

static bool read_attribute(Arff *f, Line *l, FlIoError *e) {
  if (f->n == f->room) {
    int32_t room = 2 * f->room + 8;
    Attribute *grown = realloc(f->attributes, (size_t)room * sizeof *grown);
    if (!grown) return no_memory(f->path, e);
    f->attributes = grown;
    f->room = room;
  }
  Token name;
  Attribute *a = &f->attributes[f->n];
  *a = (Attribute){0};
  if (!read_token(f, l, true, &name, e)) return false;
  a->name = name.text;
  f->n++;
  if (name.text.len && memchr(name.text.ptr, 0, (size_t)name.text.len))
    return bad(f, "a name with a zero byte", e);
  return read_type(f, l, a, e) && (ends(l) || bad(f, "there is more behind the type of an attribute", e));
}

static int by_name(const void *a, const void *b) {
  const Attribute *x = *(const Attribute *const *)a, *y = *(const Attribute *const *)b;
  int order = fl_text_order(x->name, y->name);
  return order ? order : (x > y) - (x < y);
}

static bool names_differ(const Arff *f, FlIoError *e) {
  const Attribute **sorted = calloc((size_t)f->n + 1, sizeof *sorted);
  if (!sorted) return no_memory(f->path, e);
  for (int32_t k = 0; k < f->n; k++) sorted[k] = &f->attributes[k];
  qsort(sorted, (size_t)f->n, sizeof *sorted, by_name);
  bool ok = true;
  for (int32_t k = 1; ok && k < f->n; k++)
    if (fl_text_same(sorted[k - 1]->name, sorted[k]->name))
      ok =
          fl_io_error(e, FL_E_HEADER, "columns %d and %d of `%s` are both called `%.*s`",
                      (int)(sorted[k - 1] - f->attributes) + 1, (int)(sorted[k] - f->attributes) + 1, f->path,
                      (int)(sorted[k]->name.len < 100 ? sorted[k]->name.len : 100), sorted[k]->name.ptr);
  free(sorted);
  return ok;
}

static bool read_header(Arff *f, FlIoError *e) {
  Line l;
  Token t;
  while (next_line(f, &l)) {
    if (!read_token(f, &l, true, &t, e)) return false;
    if (is_word(t.text, "@data"))
      return (f->n || fl_io_error(e, FL_E_EMPTY, "`%s` has no attributes", f->path)) && names_differ(f, e);
    if (is_word(t.text, "@attribute")) {
      if (!read_attribute(f, &l, e)) return false;
    } else if (!is_word(t.text, "@relation")) {
      return bad(f, "@relation, @attribute or @data is wanted here", e);
    }
  }
  return bad(f, "there is no @data", e);
}

static bool open_file(FlCtx *ctx, const char *path, Arff *f, FlIoError *e) {
  *f = (Arff){.path = path};
  f->is_open = fl_input_open(ctx, path, &f->in, e);
  if (!f->is_open) return false;
  f->at = f->in.data;
  f->end = f->at + f->in.size;
  if (f->in.size >= 3 && memcmp(f->at, "\xef\xbb\xbf", 3) == 0) f->at += 3;
  f->heap = fl_heap_new(ctx);
  if (!f->heap) return no_memory(path, e);
  int64_t good = fl_utf8_check(f->in.data, f->in.size);
  if (good < f->in.size)
    return fl_io_error(e, FL_E_UTF8, "`%s`: byte %lld is not UTF-8 text", path, (long long)good + 1);
  return read_header(f, e);
}

static void close_file(Arff *f) {
  for (int32_t k = 0; k < f->n; k++) free(f->attributes[k].levels);
  free(f->attributes);
  fl_heap_unref(f->heap);
  if (f->is_open) fl_input_close(&f->in);
}

/* ---- rows --------------------------------------------------------------------------------------------- */

/* Value k of a row, the last one with nothing behind it. */
static bool read_value(Arff *f, Line *l, int32_t k, Token *t, FlIoError *e) {
  skip_blanks(l);
  if (!k && l->at < l->end && *l->at == '{') {
    bad(f, "a sparse row, which is not read", e);
    fl_io_help(e, "Weka's filter SparseToNonSparse writes all values");
    return false;
  }
  if (!read_token(f, l, false, t, e)) return false;
  if (k + 1 == f->n) return ends(l) || bad(f, "there are more values than attributes, or a weight", e);
  skip_blanks(l);
  if (l->at == l->end || *l->at != ',') return bad(f, "there are fewer values than attributes", e);
  l->at++;
  return true;
}

static bool is_null(Token t) { return !t.quoted && t.text.len == 1 && *t.text.ptr == '?'; }

static bool misfit(const Arff *f, const FlTableWanted *w, Token t, FlIoError *e) {
  const char *type = fl_dtype_info[w->dtype].name;
  e->line = f->line;
  if (is_null(t)) {
    fl_io_error(e, FL_E_NULL, "`%s` line %lld: `%.*s` is %s without nulls, but here it is null", f->path,
                (long long)f->line, w->name_len, w->name, type);
    fl_io_help(e, "allow null: types = (`%.*s`: %s?)", w->name_len, w->name, type);
    return false;
  }
  int64_t shown = fl_utf8_check(t.text.ptr, t.text.len < 100 ? t.text.len : 100);
  fl_io_error(e, FL_E_VALUE, "`%s` line %lld: `%.*s` is %s, but here it is `%.*s`%s", f->path,
              (long long)f->line, w->name_len, w->name, type, (int)shown, t.text.ptr,
              w->dtype == FL_CATEGORY ? ", which the header does not list" : "");
  bool whole = w->dtype == FL_I64;
  fl_io_help(e,
             whole ? "read it with a fraction, or as text: types = (`%.*s`: f64)"
                   : "read it as text: types = (`%.*s`: text)",
             w->name_len, w->name);
  return false;
}

/* A wanted column: its attribute, and the levels by their texts. */
typedef struct Column {
  FlTableWanted *w;
  const Attribute *attribute;
  const FlText **sorted;
} Column;

static int by_text(const void *a, const void *b) {
  return fl_text_order(**(const FlText *const *)a, **(const FlText *const *)b);
}

static bool store(Arff *f, const Column *c, int64_t row, Token t) {
  static const FlCsvOptions plain = {.decimal = '.'};
  const FlTableWanted *w = c->w;
  if (w->dtype == FL_TEXT) {
    ((FlText *)w->values->data)[row] =
        t.text.len ? fl_heap_text(f->heap, t.text.ptr, t.text.len) : (FlText){NULL, 0};
    return true;
  }
  if (w->dtype != FL_CATEGORY)
    return fl_csv_store(&plain, (int32_t)w->dtype, w->values->data, row, t.text.ptr, t.text.len);
  const FlText *text = &t.text;
  const FlText **found =
      bsearch(&text, c->sorted, (size_t)c->attribute->n_levels, sizeof *c->sorted, by_text);
  if (found) ((int32_t *)w->values->data)[row] = (int32_t)(*found - c->attribute->levels);
  return found != NULL;
}

static bool store_null(const FlTableWanted *w, int64_t row) {
  if (!w->nullable) return false;
  size_t size = (size_t)fl_dtype_info[w->values->dtype].bytes;
  memset((char *)w->values->data + (size_t)row * size, 0, size);
  return true;
}

/* `of[k]`: the wanted column that attribute k is, or NULL. */
static bool read_rows(Arff *f, Column *const *of, int64_t n_rows, FlIoError *e) {
  Line l;
  Token t;
  for (int64_t row = 0; row < n_rows && next_line(f, &l); row++)
    for (int32_t k = 0; k < f->n; k++) {
      if (!read_value(f, &l, k, &t, e)) return false;
      if (!of[k]) continue;
      const FlTableWanted *w = of[k]->w;
      bool null = is_null(t);
      if (!(null ? store_null(w, row) : store(f, of[k], row, t))) return misfit(f, w, t, e);
      if (w->nullable) ((uint8_t *)w->valid->data)[row] = !null;
    }
  return true;
}

static int64_t count_rows(const Arff *f) {
  Arff rest = *f;
  Line l;
  int64_t n = 0;
  while (next_line(&rest, &l)) n++;
  return n;
}

/* Arrays for a column; a category has its levels. */
static bool make_column(FlCtx *ctx, const Arff *f, Column *c, int64_t n_rows, FlIoError *e) {
  FlTableWanted *w = c->w;
  const int64_t n = c->attribute->n_levels;
  bool ok = fl_table_make(ctx, w, n_rows, 0);
  if (w->dtype == FL_TEXT) ok = ok && fl_array_keep(ctx, w->values, f->heap, NULL, 0) == 0;
  if (!ok || w->dtype != FL_CATEGORY) return ok || no_memory(f->path, e);
  if (!c->attribute->levels)
    return fl_io_error(e, FL_E_VALUE,
                       "`%s`: the attribute `%.*s` is no list of values, which a category comes from",
                       f->path, w->name_len, w->name);
  w->levels = fl_array_new(ctx, FL_TEXT, 1, &n);
  c->sorted = malloc(((size_t)n + 1) * sizeof *c->sorted);
  if (!w->levels || !c->sorted || fl_array_keep(ctx, w->levels, f->heap, NULL, 0) != 0)
    return no_memory(f->path, e);
  for (int64_t k = 0; k < n; k++) {
    FlText level = c->attribute->levels[k];
    c->sorted[k] = &c->attribute->levels[k];
    ((FlText *)w->levels->data)[k] =
        level.len ? fl_heap_text(f->heap, level.ptr, level.len) : (FlText){NULL, 0};
  }
  qsort(c->sorted, (size_t)n, sizeof *c->sorted, by_text);
  for (int64_t k = 1; k < n; k++)
    if (fl_text_same(*c->sorted[k - 1], *c->sorted[k]))
      return fl_io_error(e, FL_E_ARFF, "`%s`: the attribute `%.*s` lists `%.*s` twice", f->path, w->name_len,
                         w->name, (int)(c->sorted[k]->len < 100 ? c->sorted[k]->len : 100),
                         c->sorted[k]->ptr);
  return true;
}

/* Puts the columns to their attributes. */
static bool find_columns(const Arff *f, Column *columns, int32_t n, Column **of, FlIoError *e) {
  for (int32_t i = 0; i < n; i++) {
    FlText name = {columns[i].w->name, columns[i].w->name_len};
    int32_t k = 0;
    while (k < f->n && !fl_text_same(f->attributes[k].name, name)) k++;
    if (k == f->n)
      return fl_io_error(e, FL_E_NO_COLUMN, "no column `%.*s` in `%s`", columns[i].w->name_len, name.ptr,
                         f->path);
    columns[i].attribute = &f->attributes[k];
    of[k] = &columns[i];
  }
  return true;
}

static bool read_table(FlCtx *ctx, const FlTableFrom *from, FlTableWanted *wanted, int32_t n, int64_t *n_rows,
                       FlIoError *e) {
  Arff f;
  for (int32_t k = 0; k < n; k++) wanted[k].values = wanted[k].valid = wanted[k].levels = NULL;
  bool ok = open_file(ctx, from->path, &f, e);
  Column *columns = calloc((size_t)n + 1, sizeof *columns), **of = calloc((size_t)f.n + 1, sizeof *of);
  ok = ok && ((columns && of) || no_memory(f.path, e));
  for (int32_t k = 0; ok && k < n; k++) columns[k].w = &wanted[k];
  ok = ok && find_columns(&f, columns, n, of, e);
  if (ok) *n_rows = count_rows(&f);
  for (int32_t k = 0; ok && k < n; k++) ok = make_column(ctx, &f, &columns[k], *n_rows, e);
  ok = ok && read_rows(&f, of, *n_rows, e) && fl_input_check(&f.in, f.path, e);
  for (int32_t k = 0; columns && k < n; k++) free(columns[k].sorted);
  free(columns);
  free(of);
  close_file(&f);
  for (int32_t k = 0; !ok && k < n; k++) fl_table_wanted_reset(&wanted[k]);
  return ok;
}

/* ---- row types ---------------------------------------------------------------------------------------- */

static bool take_columns(const Arff *f, FlIoSchema *out, FlIoError *e) {
  size_t bytes = (size_t)f->n * sizeof *out->columns;
  for (int32_t k = 0; k < f->n; k++) bytes += (size_t)f->attributes[k].name.len + 1;
  out->own = calloc(1, bytes + 1);
  if (!out->own) return no_memory(f->path, e);
  out->columns = out->own;
  out->n_columns = f->n;
  char *to = (char *)(out->columns + f->n);
  for (int32_t k = 0; k < f->n; k++) {
    FlText name = f->attributes[k].name;
    if (name.len) memcpy(to, name.ptr, (size_t)name.len);
    out->columns[k] = (FlIoColumn){.name = to, .dtype = f->attributes[k].dtype};
    to += name.len + 1;
  }
  return true;
}

/* Which columns have a null in the first rows. */
static bool find_nulls(Arff *f, FlIoSchema *out, FlIoError *e) {
  const char *enough = f->end - f->at > FL_ARFF_SAMPLE ? f->at + FL_ARFF_SAMPLE : f->end;
  Line l;
  Token t;
  while (f->at < enough && next_line(f, &l)) {
    for (int32_t k = 0; k < f->n; k++) {
      if (!read_value(f, &l, k, &t, e)) return false;
      out->columns[k].nullable |= is_null(t);
    }
    out->n_rows++;
  }
  out->whole = enough == f->end;
  return true;
}

static bool schema_of(const char *path, FlOptions options, FlIoSchema *out, FlIoError *e) {
  Arff f;
  (void)options;
  memset(out, 0, sizeof *out);
  memset(e, 0, sizeof *e);
  bool ok = open_file(NULL, path, &f, e) && take_columns(&f, out, e) && find_nulls(&f, out, e) &&
            fl_input_check(&f.in, path, e);
  close_file(&f);
  if (!ok) fl_io_schema_reset(out);
  return ok;
}

const FlTableReader fl_read_arff = {.schema = schema_of, .read = read_table};
