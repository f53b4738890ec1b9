/* csv_schema.c: the row type of a CSV file, from its header and its values.
 *
 * In: a path and options. Out: for each column bool, i64, f64, date, datetime, duration or text, and whether
 * nulls were seen. What always holds: the same bytes give the same types. A file up to FL_WHOLE bytes is read
 * whole; of a larger one the head and pieces spread evenly (of a compressed one the first FL_WHOLE bytes),
 * all of them larger where rows are long. A piece counts only if each of its rows has the header's number of
 * fields and proper quotes (it might begin within a quoted field). Values in quotes are texts in a file that
 * does not put everything in quotes. Digits with a leading zero, or too many for i64, are text: such columns
 * are codes. */
#include "io/csv_internal.h"
#include "io/unpack.h"
#include "data/data.h"
#include "data/number.h"
#include "kern/kern.h"

#include <stdlib.h>
#include <string.h>

enum { FL_WHOLE = 4 << 20, FL_HEAD = 1 << 20, FL_PIECE = 32 << 10, FL_PIECES = 48 };

/* In long rows, the rows that are looked at: of a file that is read whole, of the head, of a piece; and what
 * is the longest of them that counts. */
/* Of a text column so many values are looked at for such that are no texts; and up to where lines are
 * counted, of values and of nulls. */
enum { FL_ODD_ROWS = 100, FL_ODD_BYTES = 64 << 20, FL_NULL_BYTES = FL_WHOLE };
enum { FL_WHOLE_ROWS = 256, FL_HEAD_ROWS = 64, FL_PIECE_ROWS = 4, FL_LONGEST_ROW = 128 << 10 };

static int class_of_digits(const char *s, int64_t len) {
  bool sign = *s == '-' || *s == '+';
  return len - sign > 1 && s[sign] == '0' ? FL_SEEN_TEXT : FL_SEEN_INT;
}

static bool only_digits(const char *s, int64_t len) {
  bool sign = len && (*s == '-' || *s == '+');
  for (int64_t k = sign; k < len; k++) {
    if ((unsigned char)(s[k] - '0') > 9) return false;
  }
  return true;
}

static int class_of_time(const FlCsvOptions *o, const char *s, int64_t len) {
  int64_t micros;
  int32_t day;
  if (o->dates) {
    if (!fl_parse_datetime_by(s, len, o->dates, (int64_t)strlen(o->dates), &micros)) return 0;
    return fl_date_format_has_time(o->dates) ? FL_SEEN_DATETIME : FL_SEEN_DATE;
  }
  if (fl_parse_date(s, len, &day)) return FL_SEEN_DATE;
  return fl_parse_datetime(s, len, &micros) ? FL_SEEN_DATETIME : 0;
}

static int class_of(const FlCsvOptions *o, const char *s, int64_t len) {
  int64_t i;
  double f;
  bool b;
  while (len && (*s == ' ' || *s == '\t')) s++, len--;
  while (len && (s[len - 1] == ' ' || s[len - 1] == '\t')) len--;
  int time = o->dates ? class_of_time(o, s, len) : 0; /* 20200131 may be a date by a pattern */
  if (time) return time;
  if (fl_parse_i64(s, len, &i)) return class_of_digits(s, len);
  if (fl_csv_store(o, FL_F64, &f, 0, s, len)) {
    bool zero_code = len > 1 && s[0] == '0' && (unsigned char)(s[1] - '0') < 10;
    return zero_code || only_digits(s, len) ? FL_SEEN_TEXT : FL_SEEN_FLOAT;
  }
  if (!o->dates && (time = class_of_time(o, s, len))) return time;
  if (fl_parse_duration_iso(s, len, &i)) return FL_SEEN_DURATION;
  return fl_parse_bool(s, len, &b) ? FL_SEEN_BOOL : FL_SEEN_TEXT;
}

/* The class of plain digits with at most one point, and of dates; 0: has to be looked at more closely. */
static int quick_class(const char *s, int64_t len) {
  int64_t at = *s == '-', points = 0, digits = len - at;
  if (len == 10 && s[4] == '-') {
    int32_t day;
    return fl_parse_date(s, len, &day) ? FL_SEEN_DATE : 0;
  }
  if (digits < 1 || digits > 18 || (s[at] == '0' && digits > 1 && s[at + 1] != '.')) return 0;
  for (; at < len; at++) {
    points += s[at] == '.';
    if ((unsigned char)(s[at] - '0') > 9 && s[at] != '.') return 0;
  }
  return points == 0 ? FL_SEEN_INT : points == 1 && digits > 1 ? FL_SEEN_FLOAT : 0;
}

int fl_csv_class(const FlCsvOptions *o, const char *s, int64_t len) {
  FlText t = {s, len};
  bool doubled, plain = !o->own_nulls && !o->dates && o->decimal == '.';
  int quick = plain && len ? quick_class(s, len) : 0;
  if (quick) return quick;
  if (o->quoting && len && *s == o->quote) {
    if (!fl_csv_unquote(s, len, o->quote, &t, &doubled)) return 0;
    return t.len ? class_of(o, t.ptr, t.len) : FL_SEEN_WORD;
  }
  if (fl_csv_is_null(o, s, len, true)) return FL_SEEN_EMPTY;
  if (fl_csv_is_null(o, s, len, false)) return FL_SEEN_WORD;
  return class_of(o, s, len);
}

/* ---- rows --------------------------------------------------------------------------------------------- */

/* Beside FL_SEEN_*: how a column's values are written. */
enum {
  FL_SEEN_BARE = 1 << 10,  /* some without quotes */
  FL_SEEN_QUOTED = 1 << 11 /* some in quotes that they do not need */
};

/* A value: where it stands, from 1, and how long it is. at 0: none. */
typedef struct FlNoted {
  int64_t at, len;
} FlNoted;
/* Of each column: what its type is as it is by, and the first value of some kinds. */
enum { FL_NOTED_ODD, FL_NOTED_EMPTY, FL_NOTED_WORD, FL_NOTED_QUOTED, FL_N_NOTED };

typedef struct FlLooking {
  const FlCsvFile *f;
  const FlCsvOptions *o;
  const FlCsvScan *scan;
  uint32_t *ends;
  int *seen; /* of each column */
  FlNoted (*noted)[FL_N_NOTED];
  bool bare; /* some name or value of the file is not in quotes */
  int64_t n_rows;
} FlLooking;

static bool is_blank_row(const char *s, int64_t begin) {
  return s[begin] == '\n' || (s[begin] == '\r' && s[begin + 1] == '\n');
}

/* Whether the row whose field ends begin at ends[k] has the right number of fields; *next: where the next
 * row's begin. */
static bool row_fits(const FlLooking *l, const char *s, int64_t k, int64_t *next) {
  int32_t found = 1;
  while (s[l->ends[k]] != '\n') found++, k++;
  *next = k + 1;
  return found == l->f->n_columns;
}

static bool quotes_fit(const FlCsvOptions *o, const char *s, int64_t len) {
  FlText t;
  bool doubled;
  if (!o->quoting || !len) return true;
  if (*s == o->quote) return fl_csv_unquote(s, len, o->quote, &t, &doubled);
  return !memchr(s, o->quote, (size_t)len);
}

static int written_how(const FlCsvOptions *o, const char *s, int64_t len, int class) {
  if (!len || (class & (FL_SEEN_EMPTY | FL_SEEN_WORD))) return 0;
  if (!o->quoting || *s != o->quote) return FL_SEEN_BARE;
  if (len < 2) return 0; /* a quote alone, which nothing closes */
  bool blank = s[1] == ' ' || s[len - 2] == ' ' || s[1] == '\t' || s[len - 2] == '\t';
  bool needed = blank || memchr(s, o->sep, (size_t)len) || memchr(s, '\n', (size_t)len) ||
                memchr(s + 1, o->quote, (size_t)len - 2);
  return needed ? 0 : FL_SEEN_QUOTED;
}

enum { FL_KINDS = ~(FL_SEEN_EMPTY | FL_SEEN_WORD | FL_SEEN_BARE | FL_SEEN_QUOTED) };

/* A value of this class comes to column c, whose type may be another one by it. */
static void note(FlLooking *l, int32_t c, int class, int64_t at, int64_t len) {
  static const int kinds[] = {
      [FL_NOTED_EMPTY] = FL_SEEN_EMPTY, [FL_NOTED_WORD] = FL_SEEN_WORD, [FL_NOTED_QUOTED] = FL_SEEN_QUOTED};
  int new = class & ~l->seen[c], before = l->seen[c] & FL_KINDS, with = before | (class & FL_KINDS);
  if (!new) return;
  for (int k = FL_NOTED_EMPTY; k < FL_N_NOTED; k++)
    if (new &kinds[k]) l->noted[c][k] = (FlNoted){at + 1, len};
  if (len && with != before && (!before || fl_io_seen_dtype(with) != fl_io_seen_dtype(before)))
    l->noted[c][FL_NOTED_ODD] = (FlNoted){at + 1, len};
}

/* Goes through the rows that begin at `begin` and have n_ends field ends. `add`: their values count;
 * otherwise only tells whether all rows and quotes fit. */
static bool look_at_rows(FlLooking *l, int64_t begin, int64_t n_ends, bool add) {
  const char *s = l->f->text + begin;
  bool all = true;
  int64_t at = 0;
  for (int64_t k = 0, next; k < n_ends; k = next) {
    if (l->f->n_columns > 1 && is_blank_row(s, at)) {
      next = k + 1;
    } else if (l->o->comment && s[at] == l->o->comment) {
      row_fits(l, s, k, &next);
    } else if (!row_fits(l, s, k, &next)) {
      all = false; /* the reader reports it with its line */
    } else {
      for (int32_t c = 0; c < l->f->n_columns; c++) {
        int64_t end = l->ends[k + c], len = end - at;
        if (s[end] == '\n' && len && s[end - 1] == '\r') len--;
        if (add) {
          bool settled = (l->seen[c] & FL_SEEN_TEXT) && (len || (l->seen[c] & FL_SEEN_EMPTY)) &&
                         !l->o->own_nulls && l->n_rows >= FL_ODD_ROWS;
          int class = settled ? FL_SEEN_TEXT : fl_csv_class(l->o, s + at, len);
          if (!settled || !l->bare) class |= written_how(l->o, s + at, len, class);
          note(l, c, class, begin + at, len);
          l->seen[c] |= class;
          l->bare = l->bare || (class & FL_SEEN_BARE);
        } else if (!quotes_fit(l->o, s + at, len)) {
          all = false;
        }
        at = end + 1;
      }
      l->n_rows += add;
    }
    at = (int64_t)l->ends[next - 1] + 1;
  }
  return all;
}

/* Field ends within [begin, end), up to the last line end. sure: a row begins there. */
static int64_t index_rows(FlLooking *l, int64_t begin, int64_t end, bool sure) {
  const char *s = l->f->text + begin;
  const int quote = l->o->quoting ? (unsigned char)l->o->quote : -1;
  if (sure) {
    FlCsvWay way = fl_csv_way(l->o, l->f->n_columns);
    FlCsvCount count;
    l->scan->count(s, end - begin, l->o->sep, quote, '\n', &count);
    if (!fl_csv_fits(&count, way)) return fl_csv_index_rows(l->f, way, begin, end, l->ends);
  }
  int64_t lines, n = l->scan->index(s, end - begin, l->o->sep, quote, l->ends, &lines);
  while (n && s[l->ends[n - 1]] != '\n') n--;
  return n;
}

static void look_at_piece(FlLooking *l, int64_t begin, int64_t end) {
  const char *line = memchr(l->f->text + begin, '\n', (size_t)(end - begin));
  if (!line) return;
  begin = line - l->f->text + 1;
  int64_t n = index_rows(l, begin, end, false);
  if (look_at_rows(l, begin, n, false)) look_at_rows(l, begin, n, true);
}

/* bare: the file does not put everything in quotes, so where a column has values in quotes only, these are
 * texts. */
static FlIoColumn conclude(int seen, bool bare, const char *name) {
  if (bare && (seen & FL_SEEN_QUOTED) && !(seen & FL_SEEN_BARE)) seen |= FL_SEEN_TEXT;
  seen &= ~(FL_SEEN_QUOTED | FL_SEEN_BARE);
  FlIoColumn c = {.name = name, .dtype = fl_io_seen_dtype(seen), .nullable = (seen & FL_SEEN_EMPTY) != 0};
  bool values = (seen & ~(FL_SEEN_EMPTY | FL_SEEN_WORD)) != 0;
  if (!values) c.nullable = c.nullable || !(seen & FL_SEEN_WORD);
  else if (c.dtype != FL_TEXT) c.nullable = (seen & (FL_SEEN_EMPTY | FL_SEEN_WORD)) != 0;
  return c;
}

/* What of a value is told, whose line is to be found. */
typedef struct FlTold {
  int64_t at;
  FlIoCause *to;
} FlTold;

static void tell(const FlLooking *l, FlNoted x, int64_t most_bytes, FlIoCause *out, FlTold *told,
                 int32_t *n_told) {
  const char *value = l->f->text + x.at - 1;
  int64_t len = x.len, most = (int64_t)sizeof out->value - 1;
  if (!x.at) return;
  if (len > most)
    for (len = most; len > 0 && (value[len] & 0xC0) == 0x80;) len--;
  memcpy(out->value, value, (size_t)len);
  out->value[len] = '\0';
  if (x.at < most_bytes) told[(*n_told)++] = (FlTold){x.at - 1, out};
}

/* The value by which the column has its type, where others have another one, or all are in quotes; and the
 * first null. */
static void tell_causes(const FlLooking *l, int32_t c, FlIoColumn *out, FlTold *told, int32_t *n_told) {
  const FlNoted *noted = l->noted[c];
  int kinds = l->seen[c] & FL_KINDS;
  if (kinds & (kinds - 1)) {
    tell(l, noted[FL_NOTED_ODD], FL_ODD_BYTES, &out->odd, told, n_told);
  } else if (kinds && out->dtype != fl_io_seen_dtype(kinds)) { /* by the quotes around it */
    tell(l, noted[FL_NOTED_QUOTED], FL_ODD_BYTES, &out->odd, told, n_told);
  }
  if (!out->nullable || !kinds) return;
  FlNoted null = noted[FL_NOTED_EMPTY], word = noted[FL_NOTED_WORD];
  if (out->dtype != FL_TEXT && word.at && (!null.at || word.at < null.at)) null = word;
  tell(l, null, FL_NULL_BYTES, &out->null, told, n_told);
}

static int by_place(const void *a, const void *b) {
  const FlTold *x = a, *y = b;
  return x->at < y->at ? -1 : x->at > y->at;
}

/* One way through the text counts the lines before all of them. */
static void find_lines(const FlCsvFile *f, FlTold *told, int32_t n) {
  int64_t line = n ? fl_csv_line_at(f, f->body) : 0, at = f->body;
  qsort(told, (size_t)n, sizeof *told, by_place);
  for (int32_t k = 0; k < n; k++) {
    const char *end = f->text + told[k].at;
    for (const char *s = f->text + at; s < end && (s = memchr(s, '\n', (size_t)(end - s))); s++) line++;
    at = told[k].at;
    told[k].to->line = line;
  }
}

static int64_t at_least(int64_t bytes, int64_t rows, int64_t each) {
  return rows * each > bytes ? rows * each : bytes;
}

/* About how long a row is: the first one. */
static int64_t row_length(const FlCsvFile *f) {
  int64_t len = f->len - f->body;
  const char *end = len > 0 ? memchr(f->text + f->body, '\n', (size_t)len) : NULL;
  if (end) len = end + 1 - (f->text + f->body);
  return len < FL_LONGEST_ROW ? len : FL_LONGEST_ROW;
}

static bool look(const FlCsvFile *f, const FlCsvOptions *o, bool more, FlIoSchema *out, FlIoError *e) {
  int64_t len = f->len - f->body, row = row_length(f), piece = at_least(FL_PIECE, FL_PIECE_ROWS, row);
  bool all = more || len <= at_least(FL_WHOLE, FL_WHOLE_ROWS, row); /* of what is there */
  out->whole = all && !more;
  int64_t head = all ? len : at_least(FL_HEAD, FL_HEAD_ROWS, row);
  FlLooking l = {.f = f, .o = o, .scan = fl_csv_scan_best(), .bare = f->bare_names};
  l.ends = malloc((size_t)(head + 64) * sizeof *l.ends);
  l.seen = calloc((size_t)f->n_columns, sizeof *l.seen);
  l.noted = calloc((size_t)f->n_columns, sizeof *l.noted);
  FlTold *told = malloc(2 * (size_t)f->n_columns * sizeof *told + 1);
  bool ok = l.ends && l.seen && l.noted && told;
  if (ok) {
    look_at_rows(&l, f->body, index_rows(&l, f->body, f->body + head, true), true);
    for (int64_t k = 0; !all && k < FL_PIECES; k++) {
      int64_t at = f->body + head + (len - head - piece) / (FL_PIECES - 1) * k;
      look_at_piece(&l, at, at + piece);
    }
    out->n_rows = l.n_rows;
    int32_t n_told = 0;
    for (int32_t c = 0; c < f->n_columns; c++) {
      out->columns[c] = conclude(l.seen[c], l.bare, out->columns[c].name);
      tell_causes(&l, c, &out->columns[c], told, &n_told);
    }
    find_lines(f, told, n_told);
  }
  free(l.ends);
  free(l.seen);
  free(l.noted);
  free(told);
  return ok || fl_io_error(e, FL_E_MEMORY, "out of memory while reading `%s`", f->path);
}

/* Copies the names into one block that the schema owns. */
static bool take_names(const FlCsvFile *f, FlIoSchema *out, FlIoError *e) {
  size_t bytes = sizeof(FlIoColumn) * (size_t)f->n_columns;
  if (!fl_csv_names_differ(f, e)) return false;
  for (int32_t k = 0; k < f->n_columns; k++) bytes += strlen(f->names[k]) + 1;
  out->own = malloc(bytes);
  if (!out->own) return fl_io_error(e, FL_E_MEMORY, "out of memory while reading `%s`", f->path);
  out->columns = out->own;
  out->n_columns = f->n_columns;
  char *to = (char *)(out->columns + f->n_columns);
  for (int32_t k = 0; k < f->n_columns; k++) {
    size_t n = strlen(f->names[k]) + 1;
    out->columns[k].name = memcpy(to, f->names[k], n);
    to += n;
  }
  return true;
}

/* The file; of one that is compressed the first lines, if it is large: *more. */
static bool open_some(const char *path, const FlCsvOptions *o, FlCsvFile *f, bool *more, FlIoError *e) {
  FlInput in;
  if (!fl_input_open(NULL, path, &in, e)) return false;
  bool ok = fl_input_unpack(NULL, &in, path, FL_WHOLE, more, e);
  if (ok && *more && !fl_csv_cut(&in, o))
    ok = fl_io_error(e, FL_E_RAGGED, "the first line of `%s` is longer than %d MiB", path, FL_WHOLE >> 20);
  if (ok) return fl_csv_open_input(NULL, &in, path, o, f, e);
  fl_input_close(&in);
  return false;
}

bool fl_csv_schema(const char *path, FlOptions options, FlIoSchema *out, FlIoError *e) {
  FlCsvOptions o;
  FlCsvFile f;
  bool more = false;
  memset(out, 0, sizeof *out);
  memset(e, 0, sizeof *e);
  if (!fl_csv_options(options, &o, e) || !open_some(path, &o, &f, &more, e)) return false;
  bool ok = take_names(&f, out, e) && look(&f, &f.options, more, out, e) && fl_input_check(&f.input, path, e);
  out->n_found = fl_csv_dialect_options(&o, &f.options, out->found);
  fl_csv_close(&f);
  if (!ok) fl_io_schema_reset(out);
  return ok;
}

bool fl_io_schema_copy(const FlIoSchema *s, FlIoSchema *out) {
  size_t bytes = (size_t)s->n_columns * sizeof *s->columns + 1;
  for (int32_t k = 0; k < s->n_columns; k++) bytes += strlen(s->columns[k].name) + 1;
  *out = *s;
  out->own = malloc(bytes);
  if (!out->own) return false;
  out->columns = out->own;
  char *to = (char *)(out->columns + s->n_columns);
  for (int32_t k = 0; k < s->n_columns; k++) {
    size_t n = strlen(s->columns[k].name) + 1;
    out->columns[k] = s->columns[k];
    out->columns[k].name = memcpy(to, s->columns[k].name, n);
    to += n;
  }
  return true;
}

void fl_io_schema_reset(FlIoSchema *s) {
  free(s->own);
  memset(s, 0, sizeof *s);
}
