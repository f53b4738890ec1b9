/* csv_rows.c: a range of whole rows into columns; the innermost loop of reading CSV.
 *
 * In: a text range, the plan of what each column becomes. Out: values at first_row and on, or the first
 * problem. What always holds: a fast way either gives exactly what fl_csv_field would, or leaves the field to
 * it. The next 24 bytes after a field's start may be read. The text may be a mapped file that another program
 * writes to: whatever its bytes become between two looks at them, no more rows are stored than were counted,
 * and no row without all of its fields. */
#include "io/csv_internal.h"
#include "data/data.h"

#include <stdlib.h>
#include <string.h>

static const uint64_t ZEROS = 0x3030303030303030u; /* "00000000" */

static inline uint64_t load(const char *p) {
  uint64_t x;
  memcpy(&x, p, 8);
  return x;
}

/* Whether a word is eight ASCII digits, and their value (the first in the lowest byte; as in number_parse.c).
 */
static inline bool all_digits(uint64_t v) {
  return ((v & 0xf0f0f0f0f0f0f0f0u) | (((v + 0x0606060606060606u) & 0xf0f0f0f0f0f0f0f0u) >> 4)) ==
         0x3333333333333333u;
}
static inline uint64_t value_of(uint64_t v) {
  v = (v & 0x0f0f0f0f0f0f0f0fu) * 2561 >> 8;
  v = (v & 0x00ff00ff00ff00ffu) * 6553601 >> 16;
  return (v & 0x0000ffff0000ffffu) * 42949672960001u >> 32;
}

/* Up to 16 characters, right-aligned in 16 bytes with zeros in front: `a` the first eight, `b` the last. */
typedef struct FlSixteen {
  uint64_t a, b;
} FlSixteen;

static inline FlSixteen align_right(const char *p, int64_t len) {
  if (len <= 8) {
    int shift = (int)(8 - len) * 8;
    return (FlSixteen){ZEROS, load(p) << shift | (ZEROS & (((uint64_t)1 << shift) - 1))};
  }
  int shift = (int)(16 - len) * 8;
  uint64_t a = load(p), b = load(p + 8);
  return (FlSixteen){a << shift | (ZEROS & (((uint64_t)1 << shift) - 1)),
                     b << shift | (a >> 1) >> (63 - shift)};
}

/* The lowest byte that is a point, as its top bit; 0: none. */
static inline uint64_t point_in(uint64_t v) {
  uint64_t x = v ^ 0x2e2e2e2e2e2e2e2eu;
  return (x - 0x0101010101010101u) & ~x & 0x8080808080808080u;
}

/* v without the byte at bit `at`: lower bytes move up, `fill` comes in at the bottom. */
static inline uint64_t close_gap(uint64_t v, int at, uint64_t fill) {
  uint64_t low = ((uint64_t)1 << at) - 1;
  return (v & ~low & ~((uint64_t)0xff << at)) | (v & low) << 8 | fill;
}

/* digits [. digits] of at most 16 characters, value below 2^53: then w / 10^n is correctly rounded. */
static inline bool fast_f64(const char *p, int64_t len, double *out) {
  static const double tens[] = {1e0, 1e1, 1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};
  uint64_t negative = *p == '-';
  p += negative;
  len -= (int64_t)negative;
  if ((uint64_t)(len - 1) >= 16) return false;
  FlSixteen v = align_right(p, len);
  uint64_t point;
  int decimals = 0;
  if ((point = point_in(v.b))) {
    int at = __builtin_ctzll(point) - 7;
    decimals = 7 - at / 8;
    v.b = close_gap(v.b, at, v.a >> 56);
    v.a = v.a << 8 | '0';
  } else if ((point = point_in(v.a))) {
    int at = __builtin_ctzll(point) - 7;
    decimals = 15 - at / 8;
    v.a = close_gap(v.a, at, '0');
  }
  if (!all_digits(v.b) || (point && len == 1)) return false;
  uint64_t w = value_of(v.b);
  if (len > 8) {
    if (!all_digits(v.a)) return false;
    w += value_of(v.a) * 100000000;
    if (w > (uint64_t)1 << 53) return false;
  }
  double x = (double)w / tens[decimals];
  uint64_t bits;
  memcpy(&bits, &x, 8);
  bits |= negative << 63;
  memcpy(out, &bits, 8);
  return true;
}

static inline bool fast_i64(const char *p, int64_t len, int64_t *out) {
  bool negative = *p == '-';
  p += negative;
  len -= negative;
  if ((uint64_t)(len - 1) >= 16) return false;
  FlSixteen v = align_right(p, len);
  if (!all_digits(v.b)) return false;
  uint64_t w = value_of(v.b);
  if (len > 8) {
    if (!all_digits(v.a)) return false;
    w += value_of(v.a) * 100000000;
  }
  *out = negative ? -(int64_t)w : (int64_t)w;
  return true;
}

/* A field without quotes in a range without quotes and with ASCII only. */
static inline bool fast_text(const FlCsvPlan *plan, const FlCsvRange *r, const char *p, int64_t len,
                             FlText *out) {
  if (len == 0 || r->quotes || r->wide || plan->options->own_nulls) return false;
  *out = (FlText){p, len};
  return true;
}

static inline FlCsvOutcome put_field(const FlCsvPlan *plan, const FlCsvRange *r, const FlCsvStep *step,
                                     const char *p, int64_t len, int64_t row) {
  bool done = false;
  switch (step->kind) {
  case FL_CSV_SKIP: done = !r->broken; break;
  case FL_CSV_F64: done = fast_f64(p, len, (double *)step->values + row); break;
  case FL_CSV_I64: done = fast_i64(p, len, (int64_t *)step->values + row); break;
  case FL_CSV_TEXT: done = fast_text(plan, r, p, len, (FlText *)step->values + row); break;
  case FL_CSV_OTHER: break;
  }
  if (!done) return fl_csv_field(plan, step, p, len, row);
  if (step->valid) step->valid[row] = 1;
  return FL_CSV_OK;
}

static void problem(FlCsvRange *r, FlCsvOutcome outcome, int64_t at, int64_t len, int64_t row,
                    int32_t column) {
  r->outcome = outcome;
  r->bad_at = at;
  r->bad_len = len;
  r->bad_row = row;
  r->bad_column = column;
}

/* The field ends of a range: offsets in `s`, of which the last is a line end. */
typedef struct FlEnds {
  const char *s;
  const uint32_t *at;
  int64_t n;
} FlEnds;

/* The index of the first field end of the row behind the one whose field end is number k. */
static int64_t next_row(const FlEnds *ends, int64_t k) {
  while (k + 1 < ends->n && ends->s[ends->at[k]] != '\n') k++;
  return k + 1;
}

/* Whether all of the row is at fault, whichever field was: its quotes do not fit, or it has too few or too
 * many fields. k: index of its first field end. */
static void whole_row(const FlCsvPlan *plan, const FlCsvFile *f, FlCsvRange *r, const FlEnds *ends, int64_t k,
                      int64_t begin, int64_t row) {
  int64_t behind = next_row(ends, k), len = (int64_t)ends->at[behind - 1] - begin;
  int32_t found = (int32_t)(behind - k), n = plan->n_columns;
  if (r->broken && found == 1) {
    FlCsvRow at = fl_csv_row_at(f->text, f->len, fl_csv_way(plan->options, n), r->begin + begin, NULL);
    if (at.why != FL_CSV_OK) {
      problem(r, at.why, r->begin + begin, len, row, at.column < n ? at.column : n - 1);
      r->bad_quote = at.at;
      return;
    }
  }
  if (found == n && r->outcome == FL_CSV_OK) problem(r, FL_CSV_CHANGED, r->begin + begin, len, row, 0);
  if (found == n) return;
  problem(r, found < n ? FL_CSV_TOO_FEW : FL_CSV_TOO_MANY, r->begin + begin, len, row, 0);
  r->n_found = found;
}

/* Leaves out the row whose bad field ends at number k. Returns the index of the next row's first end, or -1:
 * out of memory. */
static int64_t reject(FlCsvRange *r, const FlEnds *ends, int64_t k) {
  if (r->n_rejects == r->room) {
    int64_t room = r->room ? r->room * 2 : 16;
    FlCsvReject *grown = realloc(r->rejects, (size_t)room * sizeof *grown);
    if (!grown) {
      r->outcome = FL_CSV_NO_MEMORY;
      return -1;
    }
    r->rejects = grown;
    r->room = room;
  }
  r->rejects[r->n_rejects++] = (FlCsvReject){r->outcome, r->bad_at, r->bad_len, r->bad_column, r->n_found};
  r->outcome = FL_CSV_OK;
  return next_row(ends, k);
}

void fl_csv_rows(const FlCsvPlan *plan, const FlCsvFile *f, FlCsvRange *r, uint32_t *ends) {
  const FlCsvOptions *o = plan->options;
  const char *s = f->text + r->begin;
  const char sep = o->sep;
  if (r->end - r->begin > (int64_t)UINT32_MAX - 64) {
    problem(r, FL_CSV_TOO_LONG, r->begin, 0, 0, 0);
    return;
  }
  int64_t n = r->broken ? fl_csv_index_rows(f, fl_csv_way(o, plan->n_columns), r->begin, r->end, ends)
                        : plan->scan->index(s, r->end - r->begin, sep,
                                            o->quoting ? (unsigned char)o->quote : -1, ends);
  const FlEnds all = {s, ends, n};
  int64_t row = r->first_row, begin = 0;
  const int32_t last = plan->n_columns - 1;
  const int comment = o->comment ? (unsigned char)o->comment : -1;
  const bool comment_given = !((o->open | o->compiled) & FL_CSV_COMMENT);
  for (int64_t k = 0; k < n; row++) {
    int64_t row_begin = begin, row_k = k;
    if (last > 0 && (s[begin] == '\n' || (s[begin] == '\r' && s[begin + 1] == '\n'))) {
      begin = (int64_t)ends[k++] + 1;
      row--;
      continue;
    }
    if (__builtin_expect((unsigned char)s[begin] == comment, 0)) {
      int64_t next = next_row(&all, k), found = next - k;
      begin = (int64_t)ends[next - 1] + 1;
      k = next;
      if (last == 0 || found != plan->n_columns || comment_given) {
        row--;
        continue;
      }
      problem(r, FL_CSV_MAYBE_COMMENT, r->begin + row_begin, begin - 1 - row_begin, row - r->first_row, 0);
    }
    if (__builtin_expect(row - r->first_row == r->n_rows, 0)) {
      problem(r, FL_CSV_CHANGED, r->begin + begin, 0, row - r->first_row, 0);
    } else if (__builtin_expect(n - k <= last && r->outcome == FL_CSV_OK, 0)) {
      whole_row(plan, f, r, &all, k++, begin, row - r->first_row);
    }
    for (int32_t c = r->outcome == FL_CSV_OK ? 0 : last + 1; c <= last; c++) {
      int64_t end = ends[k++];
      if (__builtin_expect(s[end] != (c < last ? sep : '\n'), 0)) {
        whole_row(plan, f, r, &all, row_k, row_begin, row - r->first_row);
        break;
      }
      int64_t len = end - begin;
      if (c == last && len && s[end - 1] == '\r') len--;
      FlCsvOutcome outcome = put_field(plan, r, &plan->steps[c], s + begin, len, row);
      if (__builtin_expect(outcome != FL_CSV_OK, 0)) {
        problem(r, outcome, r->begin + begin, len, row - r->first_row, c);
        whole_row(plan, f, r, &all, row_k, row_begin, row - r->first_row);
        break;
      }
      begin = end + 1;
    }
    if (__builtin_expect(r->outcome == FL_CSV_OK, 1)) continue;
    int64_t next = o->collect && r->outcome != FL_CSV_CHANGED ? reject(r, &all, k - 1) : -1;
    if (next < 0) {
      r->parsed = row - r->first_row;
      return;
    }
    k = next;
    begin = (int64_t)ends[k - 1] + 1;
    row--;
  }
  r->parsed = row - r->first_row;
}
