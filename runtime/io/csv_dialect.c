/* csv_dialect.c: how a CSV file is written: separator, quote, comments, decimal sign, header; from its first
 * rows.
 *
 * In: the text, and which of these the script left open. Out: options without anything open. What always
 * holds: the same bytes give the same; what two readings of the file would explain equally well is an error
 * that says what to write, never a guess that changes numbers; digits in groups are never numbers. What was
 * found while compiling is only compared: a file that clearly is written otherwise is an error. */
#include "io/csv_internal.h"
#include "data/number.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
  FL_SAMPLE = 64 << 10,
  FL_SAMPLE_ROWS = 1000,
  FL_HEADER_ROWS = 200,
  FL_MOST_FIELDS = 4096,
  FL_N_SEPS = 4
};
static const char seps[FL_N_SEPS] = {',', ';', '\t', '|'};

/* The first rows: [at, end) of the text, whole lines, without blank lines and comments in front. */
typedef struct FlSample {
  const FlCsvFile *f;
  int64_t at, end, comments; /* comments: lines in front that begin with # */
  int64_t last_comment;      /* where the last of them begins */
} FlSample;

/* A way to read the sample. */
typedef struct FlReadingWay {
  char sep, quote; /* quote 0: none */
  char comment;    /* 0: none */
} FlReadingWay;

/* ---- rows of the sample ------------------------------------------------------------------------------- */

static bool is_blank_line(const char *s) { return s[0] == '\n' || (s[0] == '\r' && s[1] == '\n'); }

static int64_t after_line(const FlSample *p, int64_t at) {
  const char *s = memchr(p->f->text + at, '\n', (size_t)(p->end - at));
  return s ? s - p->f->text + 1 : p->end;
}

/* The fields of the next row, quotes included, into `fields` (room for FL_MOST_FIELDS; may be NULL), how many
 * there are; 0: no more rows. Lines whose quotes do not fit are passed over but where the sample begins, or
 * where `fits` asks for them: in such a line every separator ends a field. */
static int32_t next_of(const FlSample *p, FlReadingWay way, int64_t *at, FlText *fields, bool *fits) {
  const char *s = p->f->text;
  const FlCsvWay how = {.sep = way.sep, .quote = way.quote};
  FlCsvRow row = {0};
  for (;; *at = row.end + 1) {
    while (*at < p->end && (is_blank_line(s + *at) || (way.comment && s[*at] == way.comment)))
      *at = after_line(p, *at);
    if (*at >= p->end) return 0;
    row = fl_csv_row_at(s, p->f->len, how, *at, NULL);
    if (row.why == FL_CSV_OK || *at == p->at || fits) break;
  }
  if (fits) *fits = row.why == FL_CSV_OK;
  int32_t n = 0;
  bool inside = false;
  for (int64_t k = *at, begin = k; n < FL_MOST_FIELDS; k++) {
    if (way.quote && s[k] == way.quote && row.why == FL_CSV_OK) inside = !inside;
    if (inside || (s[k] != way.sep && k < row.end)) continue;
    int64_t len = k - begin;
    if (k == row.end && len && s[k - 1] == '\r') len--;
    if (fields) fields[n] = (FlText){s + begin, len};
    n++;
    begin = k + 1;
    if (k == row.end) break;
  }
  *at = row.end + 1;
  return n;
}

static int32_t next_row(const FlSample *p, FlReadingWay way, int64_t *at, FlText *fields) {
  return next_of(p, way, at, fields, NULL);
}

static FlSample sample_of(const FlCsvFile *f, int64_t at, char comment) {
  FlSample p = {.f = f, .at = at, .end = f->len, .last_comment = -1};
  if (f->len - at > FL_SAMPLE) {
    const char *s = memrchr(f->text + at, '\n', FL_SAMPLE);
    if (!s) s = memchr(f->text + at, '\n', (size_t)(f->len - at));
    p.end = s - f->text + 1;
  }
  while (p.at < p.end && (is_blank_line(f->text + p.at) || (comment && f->text[p.at] == comment))) {
    if (f->text[p.at] == comment) {
      p.comments++;
      p.last_comment = p.at;
    }
    p.at = after_line(&p, p.at);
  }
  return p;
}

/* ---- quotes ------------------------------------------------------------------------------------------- */

static bool is_sep(char c) { return memchr(seps, c, FL_N_SEPS) != NULL; }

/* Where the quoted field that begins at `at` ends properly, behind its quote; -1: it does not. */
static int64_t end_of_quoted(const FlSample *p, int64_t at, char quote) {
  const char *s = p->f->text;
  for (int64_t k = at + 1; k < p->end; k++) {
    if (s[k] != quote) continue;
    char next = s[k + 1]; /* a line end follows the sample's last quote at the latest */
    if (next == quote) k++;
    else return is_sep(next) || next == '\n' || next == '\r' ? k + 1 : -1;
  }
  return -1;
}

/* Single quotes, when as many fields as every second row has are in them, all properly, and none in double
 * ones. */
static char find_quote(const FlSample *p) {
  const char *s = p->f->text;
  int64_t singles = 0, rows = 0;
  for (int64_t k = p->at; k < p->end; k++) {
    bool first = k == p->at || s[k - 1] == '\n';
    rows += first;
    if (!first && !is_sep(s[k - 1])) continue;
    if (s[k] == '"') return '"';
    if (s[k] != '\'') continue;
    int64_t end = end_of_quoted(p, k, '\'');
    if (end < 0) return '"';
    singles++;
    k = end - 1;
  }
  return singles >= 2 && singles * 2 >= rows ? '\'' : '"';
}

/* ---- separators --------------------------------------------------------------------------------------- */

/* How well the sample's rows fit a separator. */
typedef struct FlFit {
  int32_t n;            /* fields of the first row */
  int64_t agree, total; /* rows with as many, of all */
  int32_t typed;        /* columns without texts */
} FlFit;

/* Options that differ in the decimal sign only. */
typedef struct FlSigns {
  FlCsvOptions point, comma;
} FlSigns;

static FlSigns signs_of(const FlCsvOptions *o) {
  FlSigns out = {*o, *o};
  out.point.decimal = '.';
  out.comma.decimal = ',';
  return out;
}

/* A number, time or truth, or nothing; with either decimal sign. */
static bool is_typed(const FlSigns *signs, FlText t) {
  int class = fl_csv_class(&signs->point, t.ptr, t.len);
  if (class && !(class & FL_SEEN_TEXT)) return true;
  class = fl_csv_class(&signs->comma, t.ptr, t.len);
  return class && !(class & FL_SEEN_TEXT);
}

static FlFit fit_of(const FlSample *p, FlReadingWay way) {
  FlFit fit = {0};
  int64_t at = p->at;
  bool fits;
  for (int32_t n; fit.total < FL_SAMPLE_ROWS && (n = next_of(p, way, &at, NULL, &fits)) > 0; fit.total++) {
    if (fit.total == 0) fit.n = n;
    if (fit.n < 2) break; /* it is none */
    fit.agree += n == fit.n && fits;
  }
  return fit;
}

/* How many columns have no texts below the first row. */
static int32_t typed_columns(const FlSample *p, const FlCsvOptions *o, FlReadingWay way, FlText *fields) {
  FlSigns signs = signs_of(o);
  bool *text = calloc(FL_MOST_FIELDS, sizeof *text);
  int64_t at = p->at;
  int32_t typed = 0, columns = 0;
  for (int32_t n, row = 0; text && row < FL_SAMPLE_ROWS && (n = next_row(p, way, &at, fields)) > 0; row++) {
    columns = n;
    for (int32_t c = 0; c < n && row; c++) text[c] = text[c] || !is_typed(&signs, fields[c]);
  }
  for (int32_t c = 0; text && c < columns; c++) typed += !text[c];
  free(text);
  return typed;
}

static bool divides(FlFit f) { return f.n >= 2 && f.agree == f.total; }

/* What is found of one thing. */
typedef struct FlFound {
  char value;
  bool certain; /* what the sample shows leaves no other */
  char other;   /* ambiguous: as good; 0: it is not */
} FlFound;

/* The separator that divides the rows evenly, at least in two; of several the one that leaves no texts, if it
 * is alone in that. `now`: the separator found while compiling, or 0. */
static FlFound find_sep(const FlSample *p, const FlCsvOptions *o, FlReadingWay way, char now,
                        FlText *fields) {
  FlFit fits[FL_N_SEPS] = {0};
  bool decimal_given = !((o->open | o->compiled) & FL_CSV_DECIMAL);
  char usual = decimal_given && o->decimal == ',' ? ';' : ',';
  int n = 0, best = -1, second = -1, first = -1;
  for (int k = 0; k < FL_N_SEPS; k++) {
    way.sep = seps[k];
    if (seps[k] == way.quote || (decimal_given && seps[k] == o->decimal)) continue;
    fits[k] = fit_of(p, way);
    if (now == seps[k] && divides(fits[k])) return (FlFound){now, false, 0};
    n += divides(fits[k]);
    if (fits[k].n >= 2 && (first < 0 || fits[k].agree > fits[first].agree)) first = k;
  }
  for (int k = 0; k < FL_N_SEPS; k++) {
    if (!divides(fits[k])) continue;
    if (n == 1) return (FlFound){seps[k], true, 0};
    way.sep = seps[k];
    fits[k].typed = typed_columns(p, o, way, fields);
    /* typed / n, without dividing */
    bool better = best < 0 || fits[k].typed * fits[best].n > fits[best].typed * fits[k].n;
    second = better ? best : k;
    best = better ? k : best;
  }
  if (n > 1) {
    bool clear = fits[best].typed == fits[best].n && fits[second].typed < fits[second].n;
    return (FlFound){seps[best], clear, clear ? 0 : seps[second]};
  }
  return (FlFound){first >= 0 ? seps[first] : usual, false, 0};
}

/* ---- the decimal sign ---------------------------------------------------------------------------------- */

enum { FL_POINT = 1, FL_COMMA = 2, FL_GROUPS = 4, FL_OTHER = 8, FL_QUOTED = 16 };

/* digits , digits: a decimal comma, or, if it might be a group of thousands, FL_GROUPS. */
static int decimals_of(const FlSigns *signs, FlText t) {
  const char *comma = memchr(t.ptr ? t.ptr : "", ',', (size_t)t.len);
  int class = fl_csv_class(comma ? &signs->comma : &signs->point, t.ptr, t.len);
  if (class & (FL_SEEN_EMPTY | FL_SEEN_WORD | FL_SEEN_INT)) return 0;
  if (!(class & FL_SEEN_FLOAT)) return FL_OTHER;
  if (!comma) return memchr(t.ptr, '.', (size_t)t.len) ? FL_POINT : 0;
  const char *digits = t.ptr + (*t.ptr == '-' || *t.ptr == '+');
  bool groups = comma - digits >= 1 && comma - digits <= 3 && *digits != '0' && t.ptr + t.len - comma == 4;
  return groups ? FL_GROUPS : FL_COMMA;
}

static FlFound find_decimal(const FlSample *p, const FlCsvOptions *o, FlReadingWay way, FlText *fields) {
  FlSigns signs = signs_of(o);
  uint8_t *seen = calloc(FL_MOST_FIELDS, sizeof *seen);
  int64_t at = p->at, rows = 0;
  int all = 0;
  bool bare = false;
  for (int32_t n; seen && rows < FL_SAMPLE_ROWS && (n = next_row(p, way, &at, fields)) > 0; rows++) {
    for (int32_t c = 0; c < n; c++) {
      FlText t = fields[c], inner;
      bool doubled;
      if (way.quote && t.len && *t.ptr == way.quote &&
          fl_csv_unquote(t.ptr, t.len, way.quote, &inner, &doubled))
        t = inner;
      int what = decimals_of(&signs, t);
      if (rows && t.ptr != fields[c].ptr && t.len) what |= FL_QUOTED;
      else if (rows && t.len) bare = true;
      if (rows || !(what & FL_OTHER)) seen[c] |= (uint8_t)what; /* names do not count */
    }
  }
  for (int c = 0; seen && c < FL_MOST_FIELDS; c++)
    if (!(seen[c] & FL_OTHER) && !(bare && (seen[c] & FL_QUOTED)))
      all |= seen[c]; /* quoted: texts, unless all is */
  free(seen);
  if (all & FL_COMMA) return (FlFound){',', !(all & FL_POINT), all & FL_POINT ? '.' : 0};
  return (FlFound){'.', (all & FL_POINT) != 0, 0};
}

/* ---- the header ---------------------------------------------------------------------------------------- */

/* Where the whole numbers of a row begin, when there are several and they count up by one; -1: they do not.
 */
static int64_t counts_from(const FlCsvOptions *o, const FlText *fields, int32_t n) {
  int64_t from = -1, next = 0, x, found = 0;
  for (int32_t c = 0; c < n; c++) {
    if (!(fl_csv_class(o, fields[c].ptr, fields[c].len) & FL_SEEN_INT)) continue;
    if (!fl_parse_i64(fields[c].ptr, fields[c].len, &x) || x < 0 || (found && x != next)) return -1;
    if (!found++) from = x;
    next = x + 1;
  }
  return found > 1 ? from : -1;
}

static bool is_year(int64_t x) { return x >= 1800 && x < 2200; }

enum { FL_NO_HEADER, FL_HEADER, FL_EITHER };

/* A first row is a header when a column of values has a text there, and none when all that have values have
 * one there; numbers that count up from 0 or 1 may be both, and years are names when the row below has none.
 */
static FlFound find_header(const FlSample *p, const FlCsvOptions *o, FlReadingWay way, FlText *fields) {
  const int none = FL_SEEN_EMPTY | FL_SEEN_WORD;
  int *seen = calloc(FL_MOST_FIELDS, sizeof *seen);
  FlText *first = calloc(FL_MOST_FIELDS, sizeof *first);
  int64_t at = p->at, rows = 0, second = -1;
  int32_t n = seen && first ? next_row(p, way, &at, first) : 0;
  bool values = false, text_there = false;
  for (int32_t m; n && rows < FL_HEADER_ROWS && (m = next_row(p, way, &at, fields)) > 0; rows++) {
    if (rows == 0) second = counts_from(o, fields, m);
    for (int32_t c = 0; c < n && c < m; c++)
      if (!(seen[c] & FL_SEEN_TEXT)) seen[c] |= fl_csv_class(o, fields[c].ptr, fields[c].len);
  }
  for (int32_t c = 0; c < n; c++) {
    bool quoted = way.quote && first[c].len && *first[c].ptr == way.quote;
    int here = quoted ? FL_SEEN_TEXT : fl_csv_class(o, first[c].ptr, first[c].len);
    bool column_of_values = rows == 0 || (!(seen[c] & FL_SEEN_TEXT) && (seen[c] & ~none));
    if (!column_of_values) continue;
    if (here & FL_SEEN_TEXT) text_there = true;
    if (here & ~(FL_SEEN_TEXT | none)) values = true;
  }
  int64_t from = n ? counts_from(o, first, n) : -1;
  free(seen);
  free(first);
  if (!values || text_there) return (FlFound){FL_HEADER, text_there && rows, 0};
  if (rows && is_year(from)) return (FlFound){is_year(second) ? FL_EITHER : FL_HEADER, false, 0};
  if (rows && (from == 0 || from == 1)) return (FlFound){FL_EITHER, false, 0};
  return (FlFound){FL_NO_HEADER, true, 0};
}

/* ---- lines before the header --------------------------------------------------------------------------- */

enum { FL_MOST_SKIPPED = 20, FL_LEAST_ROWS = 3 };

/* Whether all rows of the sample have as many fields as the first, which is a header for certain. */
static bool is_table(const FlSample *p, const FlCsvOptions *o, FlReadingWay way, FlText *fields, int32_t *n) {
  FlFit fit = fit_of(p, way);
  FlCsvOptions with = *o;
  *n = fit.n;
  if (!divides(fit) || fit.total < FL_LEAST_ROWS) return false;
  with.sep = way.sep;
  FlFound header = find_header(p, &with, way, fields);
  return header.value == FL_HEADER && header.certain;
}

/* The most fields that a line of [at, end) has. */
static int32_t most_fields(const FlCsvFile *f, int64_t at, int64_t end, char sep) {
  int32_t most = 0;
  for (int32_t n = 1; at < end; at++) {
    n += f->text[at] == sep;
    most = n > most ? n : most;
    if (f->text[at] == '\n') n = 1;
  }
  return most;
}

int64_t fl_csv_find_skip(const FlCsvFile *f, const FlCsvOptions *o, int64_t at) {
  FlText *fields = calloc(FL_MOST_FIELDS, sizeof *fields);
  int64_t found = 0, to = at;
  const bool comments = ((o->open | o->compiled) & FL_CSV_COMMENT) != 0;
  for (int64_t skip = 0;
       fields && !found && (o->header || (o->open & FL_CSV_HEADER)) && skip <= FL_MOST_SKIPPED; skip++) {
    FlSample p = sample_of(f, to, comments ? '#' : o->comment);
    bool whole = false; /* a separator explains all of the file */
    for (int k = 0; k < FL_N_SEPS && !found && !whole; k++) {
      FlReadingWay way = {seps[k], o->quoting ? o->quote : 0, comments ? (p.comments ? '#' : 0) : o->comment};
      if (!(o->open & FL_CSV_SEP)) way.sep = o->sep;
      int32_t n;
      if (skip == 0) whole = divides(fit_of(&p, way));
      else if (is_table(&p, o, way, fields, &n) && most_fields(f, at, to, way.sep) * 2 <= n) found = skip;
      if (!(o->open & FL_CSV_SEP)) break;
    }
    if (whole || p.at >= p.end) break;
    to = (const char *)memchr(f->text + to, '\n', (size_t)(f->len - to)) - f->text + 1;
    if (to >= f->len) break;
  }
  free(fields);
  return found;
}

/* ---- together ------------------------------------------------------------------------------------------ */

static const char *name_of(char c) {
  switch (c) {
  case '\t': return "a tab";
  case ',': return "`,`";
  case ';': return "`;`";
  case '|': return "`|`";
  case '.': return "`.`";
  case '"': return "`\"`";
  case '\'': return "`'`";
  default: return "`#`";
  }
}

/* As it is written between quotes in a script. */
static const char *literal_of(char c) {
  switch (c) {
  case '\t': return "\\t";
  case ',': return ",";
  case ';': return ";";
  case '|': return "|";
  case '.': return ".";
  case '"': return "\\\"";
  default: return "'";
  }
}

static bool cannot_tell(const FlCsvFile *f, const char *what, const char *option, FlFound x, FlIoError *e) {
  fl_io_error(e, FL_E_AMBIGUOUS, "the %s of `%s` may be %s or %s", what, f->path, name_of(x.value),
              name_of(x.other));
  fl_io_help(e, "say which: %s = \"%s\" or %s = \"%s\"", option, literal_of(x.value), option,
             literal_of(x.other));
  return false;
}

/* Takes what was found where the script left it open; where it was found while compiling, compares. */
static bool settle(const FlCsvFile *f, const FlCsvOptions *o, unsigned bit, const char *what,
                   const char *option, FlFound x, char *to, FlIoError *e) {
  if (o->open & bit) {
    if (x.other) return cannot_tell(f, what, option, x, e);
    *to = x.value;
  } else if ((o->compiled & bit) && x.certain && x.value != *to) {
    fl_io_error(e, FL_E_DIALECT, "the %s of `%s` is %s, but it was %s while compiling", what, f->path,
                name_of(x.value), name_of(*to));
    fl_io_help(e, "compile again with this file, or say %s = \"%s\"", option, literal_of(x.value));
    return false;
  }
  return true;
}

/* Lines in front that begin with # are comments, unless the last of them looks like a row. */
static bool settle_comment(const FlSample *p, FlCsvOptions *o, FlReadingWay way, FlText *fields,
                           FlIoError *e) {
  if (!((o->open | o->compiled) & FL_CSV_COMMENT)) return true;
  FlFound x = {p->comments ? '#' : 0, p->comments > 0, 0};
  if (p->comments && (o->open & FL_CSV_COMMENT)) {
    int64_t at = p->last_comment, below = p->at;
    way.comment = 0;
    bool fits;
    int32_t n = next_of(p, way, &at, fields, &fits), rows = next_row(p, way, &below, fields);
    if (fits && n > 1 && n == rows) {
      long long line = (long long)fl_csv_line_at(p->f, p->last_comment);
      fl_io_error(
          e, FL_E_COMMENT,
          "`%s` line %lld: this may be a comment, or the header: it begins with `#` and has %d fields",
          p->f->path, line, n);
      fl_io_help(e, "say which: comment = \"#\", or comment = \"\" with skip = %lld", line - 1);
      e->line = line;
      return false;
    }
  }
  if (o->open & FL_CSV_COMMENT) {
    o->comment = x.value;
    return true;
  }
  if (!x.certain || o->comment) return true;
  fl_io_error(e, FL_E_DIALECT, "`%s` begins with comments, but it had none while compiling", p->f->path);
  fl_io_help(e, "compile again with this file, or say comment = \"#\"");
  return false;
}

static bool settle_header(const FlSample *p, FlCsvOptions *o, FlFound x, FlIoError *e) {
  if (o->open & FL_CSV_HEADER) {
    if (x.value == FL_EITHER) {
      fl_io_error(e, FL_E_AMBIGUOUS, "the first row of `%s` may hold names or values: its numbers count up",
                  p->f->path);
      fl_io_help(e, "say which: header = true or header = false");
      return false;
    }
    o->header = x.value == FL_HEADER;
  } else if ((o->compiled & FL_CSV_HEADER) && !o->header && x.value == FL_HEADER && x.certain) {
    fl_io_error(e, FL_E_DIALECT, "`%s` has a header, but it had none while compiling", p->f->path);
    fl_io_help(e, "compile again with this file, or say header = true");
    return false;
  }
  return true; /* where a header was expected, names that are missing are told by name */
}

bool fl_csv_find_dialect(const FlCsvFile *f, FlCsvOptions *o, int64_t at, FlIoError *e) {
  const unsigned look = o->open | o->compiled;
  if (!look) return true;
  bool comments = look & FL_CSV_COMMENT;
  FlSample p = sample_of(f, at, comments ? '#' : o->comment);
  FlText *fields = calloc(FL_MOST_FIELDS, sizeof *fields);
  if (!fields) return fl_io_error(e, FL_E_MEMORY, "out of memory while reading `%s`", f->path);
  FlReadingWay way = {o->sep, o->quoting ? o->quote : 0, comments ? (p.comments ? '#' : 0) : o->comment};
  bool ok = true;
  if (look & FL_CSV_QUOTE) {
    char found = find_quote(&p);
    ok = settle(f, o, FL_CSV_QUOTE, "quote", "quote", (FlFound){found, found == '\'', 0}, &o->quote, e);
    way.quote = o->quote;
  }
  if (ok && look & FL_CSV_SEP) {
    char now = o->compiled & FL_CSV_SEP ? o->sep : 0;
    ok = settle(f, o, FL_CSV_SEP, "separator", "sep", find_sep(&p, o, way, now, fields), &o->sep, e);
  }
  way.sep = o->sep;
  ok = ok && settle_comment(&p, o, way, fields, e);
  way.comment = o->comment;
  if (ok && look & FL_CSV_DECIMAL) {
    FlFound x = {'.', false, 0};
    if (o->sep != ',') x = find_decimal(&p, o, way, fields);
    ok = settle(f, o, FL_CSV_DECIMAL, "decimal sign", "decimal", x, &o->decimal, e);
  }
  if (ok && look & FL_CSV_HEADER) ok = settle_header(&p, o, find_header(&p, o, way, fields), e);
  free(fields);
  return ok;
}

static FlIoFound one_byte(const char *name, char value) {
  return (FlIoFound){.name = name, .is_text = true, .text = {value}};
}

int32_t fl_csv_dialect_options(const FlCsvOptions *given, const FlCsvOptions *o,
                               FlIoFound out[FL_IO_DIALECT]) {
  int32_t n = 0;
  if (given->open & FL_CSV_SEP) out[n++] = one_byte("sep", o->sep);
  if (given->open & FL_CSV_QUOTE) out[n++] = one_byte("quote", o->quote);
  if ((given->open & FL_CSV_FRONT) && o->skip) out[n++] = (FlIoFound){.name = "skip", .number = o->skip};
  if (given->open & FL_CSV_HEADER) out[n++] = (FlIoFound){.name = "header", .number = o->header};
  if (given->open & FL_CSV_DECIMAL) out[n++] = one_byte("decimal", o->decimal);
  if (given->open & FL_CSV_COMMENT) out[n++] = one_byte("comment", o->comment);
  return n;
}
