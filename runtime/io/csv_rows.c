/* csv_rows.c: a range of whole rows into columns.
 *
 * In: a text range, the plan of what each column becomes. Out: values at first_row and on, or the first
 * problem.
 * Method: rows that have a field for each column are taken some hundred at a time, column by column
 * (csv_cells.c), so that what nobody wants costs nothing. Where a field of them does not fit they are taken
 * again, one by one, as is any other row: so the first problem is found by row, then by column.
 * What always holds: the text may be a mapped file that another program writes to: whatever its bytes become
 * between two looks at them, no more rows are stored than were counted, and no row without all of its
 * fields. */
#include "io/csv_internal.h"
#include "data/data.h"

#include <stdlib.h>
#include <string.h>

static void problem(FlCsvRange *r, FlCsvOutcome outcome, int64_t at, int64_t len, int64_t row,
                    int32_t column) {
  r->outcome = outcome;
  r->bad_at = at;
  r->bad_len = len;
  r->bad_row = row;
  r->bad_column = column;
}

/* The field ends of a range: offsets in `s`, of which the last is a line end; at[-1]: in front of it. */
typedef struct FlEnds {
  const char *s;
  const uint32_t *at;
  int64_t n;
} FlEnds;

/* Where the field begins whose end is number k. */
static int64_t begin_of(const FlEnds *ends, int64_t k) { return (uint32_t)(ends->at[k - 1] + 1); }

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

/* ---- one row ------------------------------------------------------------------------------------------ */

/* What is being taken. */
typedef struct FlTaking {
  const FlCsvPlan *plan;
  const FlCsvFile *f;
  FlCsvRange *r;
  FlEnds ends;
  bool regular; /* all rows have a field for each column */
  int64_t k;    /* number of the first field end of the next row */
  int64_t row;  /* where it goes to */
} FlTaking;

static bool is_comment(const FlCsvOptions *o, char c) { return o->comment && c == o->comment; }

/* A field that is not wanted is only looked at where its quotes may not fit. */
static bool is_asked(const FlTaking *t, int32_t c) {
  return t->plan->steps[c].kind != FL_CSV_SKIP || t->r->broken;
}

static void take_fields(FlTaking *t, int64_t row) {
  const char *s = t->ends.s, sep = t->plan->options->sep;
  FlCsvRange *r = t->r;
  int64_t first = begin_of(&t->ends, t->k), begin = first;
  const int32_t last = t->plan->n_columns - 1;
  for (int32_t c = 0; c <= last; c++) {
    int64_t end = t->ends.at[t->k + c], len = end - begin;
    FlCsvOutcome outcome = FL_CSV_OK;
    bool ends_here = s[end] == (c < last ? sep : '\n');
    if (c == last && len && s[end - 1] == '\r') len--;
    if (ends_here && is_asked(t, c))
      outcome = fl_csv_field(t->plan, &t->plan->steps[c], s + begin, len, t->row);
    if (outcome != FL_CSV_OK) problem(r, outcome, r->begin + begin, len, row, c);
    if (!ends_here || outcome != FL_CSV_OK) {
      whole_row(t->plan, t->f, r, &t->ends, t->k, first, row);
      return;
    }
    begin = end + 1;
  }
}

/* false: the range has a problem, and ends here. */
static bool take_row(FlTaking *t) {
  const FlCsvOptions *o = t->plan->options;
  FlCsvRange *r = t->r;
  const int32_t n = t->plan->n_columns;
  const char *s = t->ends.s;
  int64_t begin = begin_of(&t->ends, t->k), row = t->row - r->first_row;
  if (n > 1 && (s[begin] == '\n' || (s[begin] == '\r' && s[begin + 1] == '\n'))) {
    t->k++;
    return true;
  }
  int64_t next = is_comment(o, s[begin]) ? next_row(&t->ends, t->k) : 0;
  bool given = !((o->open | o->compiled) & FL_CSV_COMMENT);
  if (next && (n == 1 || next - t->k != n || given)) {
    t->k = next;
    return true;
  }
  if (row == r->n_rows) {
    problem(r, FL_CSV_CHANGED, r->begin + begin, 0, row, 0);
  } else if (next) {
    problem(r, FL_CSV_MAYBE_COMMENT, r->begin + begin, (int64_t)t->ends.at[next - 1] - begin, row, 0);
  } else if (t->ends.n - t->k < n) {
    whole_row(t->plan, t->f, r, &t->ends, t->k, begin, row);
  } else {
    take_fields(t, row);
  }
  if (r->outcome == FL_CSV_OK) {
    t->k += n;
    t->row++;
    return true;
  }
  next = o->collect && r->outcome != FL_CSV_CHANGED ? reject(r, &t->ends, t->k) : -1;
  if (next >= 0) t->k = next;
  return next >= 0;
}

/* ---- many rows ---------------------------------------------------------------------------------------- */

enum { FL_ROWS_AT_ONCE = 256 };

/* Whether all rows of the range have a field for each column: there are as many line ends as rows, and the
 * last of so many fields each time is one. */
static bool all_regular(const FlTaking *t, int64_t lines) {
  const int32_t n = t->plan->n_columns;
  if (t->ends.n != lines * n) return false;
  for (int64_t k = n - 1; k < t->ends.n; k += n)
    if (t->ends.s[t->ends.at[k]] != '\n') return false;
  return true;
}

static bool is_regular(const FlTaking *t, int64_t k) {
  const int32_t n = t->plan->n_columns;
  const FlEnds *e = &t->ends;
  for (int32_t c = 0; c < n; c++)
    if (e->s[e->at[k + c]] != (c < n - 1 ? t->plan->options->sep : '\n')) return false;
  return true;
}

/* How many rows from the next one on are no comments and have a field for each column; not more than some. */
static int64_t regular_rows(const FlTaking *t) {
  const int32_t n = t->plan->n_columns;
  int64_t most = (t->ends.n - t->k) / n, left = t->r->n_rows - (t->row - t->r->first_row), rows = 0;
  most = most < left ? most : left;
  most = most < FL_ROWS_AT_ONCE ? most : FL_ROWS_AT_ONCE;
  if (t->regular && !t->plan->options->comment) return most;
  for (int64_t k = t->k; rows < most; rows++, k += n) {
    if (is_comment(t->plan->options, t->ends.s[begin_of(&t->ends, k)])) break;
    if (!t->regular && !is_regular(t, k)) break;
  }
  return rows;
}

/* The fields of a column in the next rows; false: one has a problem. */
static bool take_column(const FlTaking *t, int64_t rows, int32_t c) {
  const FlCsvPlan *plan = t->plan;
  const FlCsvStep *step = &plan->steps[c];
  FlCsvTaker *taker = plan->scan->take[step->kind];
  const FlCsvCells cells = {.s = t->ends.s,
                            .ends = t->ends.at + t->k + c,
                            .stride = plan->n_columns,
                            .n = rows,
                            .last = c == plan->n_columns - 1,
                            .quotes = t->r->quotes,
                            .check = t->r->wide || t->r->broken,
                            .quote = plan->options->quote};
  char *values = (char *)step->values + t->row * fl_dtype_info[step->dtype].bytes;
  for (int64_t i = 0; i < rows; i++) {
    int64_t from = i;
    if (taker) i = taker(&cells, values, from);
    if (step->valid) memset(step->valid + t->row + from, 1, (size_t)(i - from));
    if (i == rows) break;
    FlText field = fl_csv_cell(&cells, i);
    if (fl_csv_field(plan, step, field.ptr, field.len, t->row + i) != FL_CSV_OK) return false;
  }
  return true;
}

static bool take_columns(const FlTaking *t, int64_t rows) {
  for (int32_t c = 0; c < t->plan->n_columns; c++)
    if (is_asked(t, c) && !take_column(t, rows, c)) return false;
  return true;
}

void fl_csv_rows(const FlCsvPlan *plan, const FlCsvFile *f, FlCsvRange *r, uint32_t *positions) {
  const FlCsvOptions *o = plan->options;
  if (r->end - r->begin > (int64_t)UINT32_MAX - 64) {
    problem(r, FL_CSV_TOO_LONG, r->begin, 0, 0, 0);
    return;
  }
  uint32_t *ends = positions + 1;
  *positions = UINT32_MAX; /* one more is where the first field begins */
  FlTaking t = {.plan = plan, .f = f, .r = r, .ends = {f->text + r->begin, ends, 0}, .row = r->first_row};
  if (r->broken) {
    t.ends.n = fl_csv_index_rows(f, fl_csv_way(o, plan->n_columns), r->begin, r->end, ends);
  } else {
    int64_t lines, bytes = r->end - r->begin;
    int quote = o->quoting ? (unsigned char)o->quote : -1;
    t.ends.n = plan->scan->index(t.ends.s, bytes, o->sep, quote, ends, &lines);
    t.regular = all_regular(&t, lines);
  }
  bool good = true;
  while (good && t.k < t.ends.n) {
    int64_t rows = regular_rows(&t);
    if (rows && take_columns(&t, rows)) {
      t.k += rows * plan->n_columns;
      t.row += rows;
      continue;
    }
    for (int64_t k = 0; good && k < (rows ? rows : 1) && t.k < t.ends.n; k++) good = take_row(&t);
  }
  r->parsed = t.row - r->first_row;
}
