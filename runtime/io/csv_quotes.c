/* csv_quotes.c: where the rows of a CSV text end, whatever its quotes are like: the rule, one row at a time.
 *
 * In: a text, where a row begins, separator and quote. Out: where the row ends and its fields do, or, when
 * its quotes do not fit, that its first line is a row that cannot be read, and why; what follows it begins
 * with the next line. What always holds: the answer depends on nothing but the text from the row's beginning
 * on. csv_scan.c gives the same faster for text whose quotes all fit; docs/decisions/csv-broken-rows.md says
 * why the rule is as it is. */
#include "io/csv_internal.h"

#include <string.h>

/* So many separators, in two lines at least, are needed to take the lines of a quoted field for rows. */
enum { FL_LEAST_SEPS = 10, FL_LEAST_LINES = 2 };

FlCsvWay fl_csv_way(const FlCsvOptions *o, int32_t n_columns) {
  bool found = ((o->open | o->compiled) & FL_CSV_QUOTE) != 0;
  return (FlCsvWay){.sep = o->sep, .quote = o->quoting ? o->quote : 0, .n_columns = found ? n_columns : 0};
}

int64_t fl_csv_most_lines(FlCsvWay way) {
  if (way.n_columns < 2) return INT64_MAX;
  int64_t lines = (FL_LEAST_SEPS + way.n_columns - 2) / (way.n_columns - 1);
  return (lines < FL_LEAST_LINES ? FL_LEAST_LINES : lines) + 1;
}

static bool is_sep(FlCsvWay way, char c) {
  return way.sep ? c == way.sep : c == ',' || c == ';' || c == '\t' || c == '|';
}

/* Whether a line ends at s (0: no; else it and its length in bytes); s is followed by a byte at least. */
static int line_end(FlCsvWay way, const char *s) {
  if (*s == '\n') return 1;
  if (*s != '\r') return 0;
  return s[1] == '\n' ? 2 : way.returns ? 1 : 0;
}

/* The last byte of the line end of the line that `at` is in. */
static int64_t end_of_line(const char *text, int64_t len, FlCsvWay way, int64_t at) {
  if (!way.returns) {
    const char *s = memchr(text + at, '\n', (size_t)(len - at));
    return s ? s - text : len - 1;
  }
  for (; at < len; at++) {
    int n = line_end(way, text + at);
    if (n) return at + n - 1;
  }
  return len - 1;
}

/* Whether the quoted bytes [s, end) are lines that look like rows: two at least between the first line end
 * and the last, of which nine in ten have as many fields as the header. */
static bool holds_rows(const char *s, const char *end, FlCsvWay way) {
  if (way.n_columns < 2) return false;
  int64_t lines = 0, fit = 0;
  const char *at = memchr(s, '\n', (size_t)(end - s));
  for (const char *next; at && (next = memchr(at + 1, '\n', (size_t)(end - at - 1))); at = next) {
    int32_t fields = 1;
    for (const char *p = at + 1; p < next; p++) fields += *p == way.sep;
    bool blank = next - at == 1 || (next - at == 2 && at[1] == '\r');
    lines += !blank;
    fit += !blank && fields == way.n_columns;
  }
  return lines + 1 >= fl_csv_most_lines(way) && fit * 10 >= lines * 9;
}

/* The closing quote of the field that opens at `at`; -1: there is none. */
static int64_t closing(const char *text, int64_t len, char quote, int64_t at) {
  for (at++; at < len; at += 2) {
    const char *s = memchr(text + at, quote, (size_t)(len - at));
    if (!s) return -1;
    at = s - text;
    if (at + 1 >= len || text[at + 1] != quote) return at;
  }
  return -1;
}

FlCsvRow fl_csv_row_at(const char *text, int64_t len, FlCsvWay way, int64_t at, FlCsvEnds *ends) {
  FlCsvRow row = {.begin = at, .why = FL_CSV_OK};
  for (int64_t k = at;; row.n_fields++) {
    row.at = k;
    if (way.quote && text[k] == way.quote) {
      int64_t close = closing(text, len, way.quote, k);
      int after = close < 0 ? 0 : line_end(way, text + close + 1);
      if (close < 0) row.why = FL_CSV_OPEN_QUOTE;
      else if (!after && !is_sep(way, text[close + 1])) row.why = FL_CSV_BAD_QUOTE;
      else if (holds_rows(text + k + 1, text + close, way)) row.why = FL_CSV_QUOTED_ROWS;
      k = close + 1;
    } else {
      while (!is_sep(way, text[k]) && text[k] != '\n' && text[k] != '\r' &&
             !(way.quote && text[k] == way.quote))
        k++;
      while (text[k] == '\r' && !line_end(way, text + k)) { /* part of the field */
        k++;
        while (!is_sep(way, text[k]) && text[k] != '\n' && text[k] != '\r' &&
               !(way.quote && text[k] == way.quote))
          k++;
      }
      if (way.quote && text[k] == way.quote) row.why = FL_CSV_STRAY_QUOTE;
    }
    if (row.why != FL_CSV_OK) break;
    int n = line_end(way, text + k);
    row.end = k + (n ? n - 1 : 0);
    if (ends && row.end < ends->end) ends->at[row.n_fields] = (uint32_t)(row.end - ends->begin);
    if (!n) k++;
    if (!n) continue;
    row.n_fields++;
    return row;
  }
  row.column = row.n_fields;
  row.end = end_of_line(text, len, way, at);
  row.n_fields = 1;
  if (ends && row.end < ends->end) ends->at[0] = (uint32_t)(row.end - ends->begin);
  return row;
}

int64_t fl_csv_index_rows(const FlCsvFile *f, FlCsvWay way, int64_t begin, int64_t end, uint32_t *ends) {
  FlCsvEnds to = {begin, end, ends};
  for (int64_t at = begin; at < end;) {
    FlCsvRow row = fl_csv_row_at(f->text, f->len, way, at, &to);
    if (row.end >= end) break; /* the last row of a sample goes on behind it */
    to.at += row.n_fields;
    at = row.end + 1;
  }
  return to.at - ends;
}

bool fl_csv_fits(const FlCsvCount *c, FlCsvWay way) {
  return !c->seen[0].bad && !c->odd && c->seen[0].most < fl_csv_most_lines(way);
}
